// The user's JSON as data: what must come back untouched, and what must be refused and where.

/** JSON texts whose values come back with the same keys in the same order. (JavaScript itself puts keys like "10" first.) */
export const UNTOUCHED: readonly string[] = [
  "{}",
  '{"":1," ":2,"a b":[],"  x  ":" spaced "}',
  '{"CamelCase":1,"snake_case":2,"kebab-case":3,"UPPER":4,"id":null,"version":7,"status":"mine"}',
  '{"z":1,"a":2,"m":{"z":1,"a":2}}',
  '{"Ünïcödé 😀":"日本語 \u2028\u2029 \u007f \ufeff","\uffff":"\ufffd"}',
  '{"quotes":"it\'s \\"quoted\\" \\\\ /","lines":"a\\nb\\tc\\r"}',
  '{"nul":"a\\u0000b","\\u0000":"\\u0000","controls":"\\u0001\\u001f"}',
  '{"__proto__":{"x":1},"constructor":{"prototype":null},"toString":1,"hasOwnProperty":2,"length":0}',
  '{"integers":[0,1,-1,9007199254740991,-9007199254740991]}',
  '{"floats":[-0.5,1e-7,1e+21,1.7976931348623157e+308,5e-324,0.1,123456789.123456,3.141592653589793]}',
  '{"wide":[9007199254740992,9007199254740994,1152921504606847000]}',
  '{"nothing":null,"yes":true,"no":false,"empty":[[],{},"",[[[]]]]}',
  '{"digits in text":"12345678901234567890","[1e999, NaN]":"NaN Infinity"}',
];

/** A value JSON cannot carry, and where the fault is inside it. `make` because some cannot be shared between runs. */
export interface Refused {
  readonly name: string;
  readonly path: readonly (string | number)[];
  make(): unknown;
}

const refused = (name: string, make: () => unknown, path: readonly (string | number)[] = []): Refused => ({
  name,
  path,
  make,
});

class Money {
  amount = 4711;
}

class Amounts extends Array<number> {}

function fail(): never {
  throw new Error("secret-4711");
}

const hidden = <T extends object>(value: T): T =>
  Object.defineProperty(value, "toJSON", { value: () => "secret-4711", enumerable: false });

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

export const REFUSED: readonly Refused[] = [
  refused("NaN", () => Number.NaN),
  refused("Infinity", () => Infinity),
  refused("-Infinity", () => -Infinity),
  refused("undefined", () => undefined),
  refused("a function", () => () => "secret-4711"),
  refused("a symbol", () => Symbol("secret-4711")),
  refused("a BigInt", () => 4711n),
  refused("a Date", () => new Date(0)),
  refused("a Map", () => new Map([["secret-4711", 1]])),
  refused("a Set", () => new Set(["secret-4711"])),
  refused("a RegExp", () => /secret-4711/),
  refused("bytes", () => new Uint8Array(3)),
  refused("a String object", () => Object("secret-4711")),
  refused("an instance of a class", () => new Money()),
  refused("an object with a parent", () => Object.create({ inherited: "secret-4711" })),
  refused("an object with toJSON", () => ({ toJSON: () => "secret-4711" }), ["toJSON"]),
  refused("an object with a toJSON that is not enumerable", () => hidden({ a: 1 }), ["toJSON"]),
  refused("an array with a toJSON", () => hidden([1]), ["toJSON"]),
  refused("an object with a toJSON that throws", () => ({ toJSON: fail }), ["toJSON"]),
  refused("a symbol as a key", () => ({ a: 1, [Symbol("key")]: "secret-4711" }), ["Symbol(key)"]),
  refused("a symbol as an array's key", () => Object.assign([1], { [Symbol("key")]: "secret-4711" }), ["Symbol(key)"]),
  refused("a key of an array", () => Object.assign([1], { name: "secret-4711" }), ["name"]),
  refused("a key of an empty array", () => Object.assign([], { "-1": "secret-4711" }), ["-1"]),
  refused("what a regular expression found", () => /\d/.exec("secret-4711"), ["index"]),
  refused("an instance of a class of arrays", () => new Amounts(4711, 4712)),
  refused("a getter that throws", () => Object.defineProperty({ a: 1 }, "b", { enumerable: true, get: fail }), ["b"]),
  refused("an element that throws", () => Object.defineProperty([1], 1, { enumerable: true, get: fail }), [1]),
  refused("a toJSON that throws when it is looked for", () => Object.defineProperty({}, "toJSON", { get: fail }), [
    "toJSON",
  ]),
  refused("a Proxy that does not tell its keys", () => new Proxy({}, { ownKeys: fail })),
  refused("a Proxy that does not tell its prototype", () => new Proxy({}, { getPrototypeOf: fail })),
  refused("a Proxy that does not tell its values", () => new Proxy({ a: 1 }, { get: fail }), ["toJSON"]),
  refused("a Proxy that is revoked", revoked),
  refused("a lone high surrogate", () => "secret-4711 \ud83d"),
  refused("a lone low surrogate", () => "\ude00 secret-4711"),
  refused("surrogates the wrong way round", () => "\ude00\ud83d"),
  refused("a lone surrogate in a key", () => ({ "k\ud800": "secret-4711" }), ["k\ufffd"]),
  refused("a hole in an array", () => Array.from({ length: 3 }).fill(0, 0, 1), [1]),
  refused("a sparse array", () => Object.assign([], { 2: 0 }), [0]),
  refused("undefined in an array", () => [1, undefined], [1]),
  refused("undefined deep inside", () => ({ a: [{ b: { c: undefined } }] }), ["a", 0, "b", "c"]),
  refused(
    "NaN under hostile keys",
    () =>
      JSON.parse('{"":{"__proto__":[[]]}}', (_, v) => (Array.isArray(v) && v.length === 0 ? Number.NaN : v)) as unknown,
    ["", "__proto__", 0],
  ),
  refused(
    "an object in itself",
    () => {
      const loop: Record<string, unknown> = { secret: 4711 };
      loop["again"] = { loop };
      return loop;
    },
    ["again", "loop"],
  ),
  refused(
    "an array in itself",
    () => {
      const loop: unknown[] = [];
      loop.push([loop]);
      return loop;
    },
    [0, 0],
  ),
];
