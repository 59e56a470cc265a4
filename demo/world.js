// Everybody outside the process: a customer, a warehouse, accounting, a carrier. They act on messages from the outbox,
// and send each event until it is acknowledged: at least once, always with the same id.

/**
 * @typedef {import("perdure").JsonObject} JsonObject
 * @typedef {{ id: string, kind: string, data: JsonObject }} WorldEvent
 * @typedef {{ to: string, event: WorldEvent }} Letter
 * @typedef {Generator<[kind: string, data?: JsonObject], void, void>} Answers
 * @typedef {{ to: string, rest: Answers, count: number, letter: Letter }} Talk
 */

export const ITEMS = ["lamp", "kettle", "atlas"];
export const AMOUNT = 129.5;

/** What is done when a message is heard, one event after the other, all for the Execution that asked. */
/** @type {{ [kind: string]: (data: JsonObject, enoughKills: () => boolean) => Answers }} */
const answers = {
  *shop_open() {
    for (const item of ITEMS) yield ["add_item", { item }];
    yield ["checkout"];
  },
  *reminder() {
    yield ["paid", { amount: AMOUNT }];
  },
  *pick({ items }) {
    for (const item of /** @type {string[]} */ (items)) yield ["picked", { item }];
  },
  *bill() {
    yield ["drafted"];
    yield ["sent"];
  },
  *collect(_data, enoughKills) {
    yield ["collected"];
    // Nobody opens the door before the process was killed often enough.
    while (!enoughKills()) yield ["nobody_home"];
    yield ["handed_over"];
  },
};

export class World {
  /** Event id → how often it was sent. @type {Map<string, number>} */
  sent = new Map();
  /** Ids of the messages heard. @type {Set<string>} */
  heard = new Set();
  /** Message id → the letter that waits for its acknowledgement, and what follows. */
  /** @type {Map<string, Talk>} */
  #talks = new Map();
  #options;

  /**
   * @param {object} options
   * @param {(letter: Letter) => boolean} options.send  false when nobody is there to take it
   * @param {() => boolean} options.enoughKills
   * @param {() => number} options.paceMs  how long until the next letter is written
   */
  constructor(options) {
    this.#options = options;
  }

  /** A message from the outbox. It may come twice; it counts once. @param {import("perdure").Event} message */
  hear({ id, kind, data }) {
    if (this.heard.has(id)) return;
    this.heard.add(id);
    const rest = answers[kind]?.(data, this.#options.enoughKills);
    if (rest !== undefined) this.#next(id, /** @type {string} */ (data["reply_to"]), rest, 1);
  }

  /** An event was acknowledged: that talk goes on. @param {string} eventId */
  acknowledged(eventId) {
    for (const [id, { to, rest, count, letter }] of this.#talks) {
      if (letter.event.id === eventId) this.#next(id, to, rest, count + 1);
    }
  }

  /** Another process is there: what was sent and never acknowledged is sent again. */
  sendAgain() {
    for (const { letter } of this.#talks.values()) if (this.sent.has(letter.event.id)) this.#post(letter);
  }

  /** @param {string} messageId @param {string} to @param {Answers} rest @param {number} count */
  #next(messageId, to, rest, count) {
    this.#talks.delete(messageId);
    const next = rest.next();
    if (next.done) return;
    const [kind, data = {}] = next.value;
    const letter = { to, event: { id: `${kind} ${count} after ${messageId}`, kind, data } };
    this.#talks.set(messageId, { to, rest, count, letter });
    setTimeout(() => this.#post(letter), this.#options.paceMs());
  }

  /** @param {Letter} letter */
  #post(letter) {
    const { id } = letter.event;
    if (this.#options.send(letter)) this.sent.set(id, (this.sent.get(id) ?? 0) + 1);
    else this.sent.set(id, this.sent.get(id) ?? 0);
  }
}
