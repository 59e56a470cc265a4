// Makes the transactions of one IndexedDB database strict, for a peer that never asks for that.

/** @type {Set<string>} */
const names = new Set();

/** @param {string} name of the database */
export function makeStrict(name) {
  if (names.size === 0) {
    const { transaction } = IDBDatabase.prototype;
    IDBDatabase.prototype.transaction = function (stores, mode, options) {
      return transaction.call(this, stores, mode, names.has(this.name) ? { durability: "strict" } : options);
    };
  }
  names.add(name);
}
