// The user's JSON on its own: what is found wrong and where, and stored text that must not lose digits (L7).
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { REFUSED, UNTOUCHED } from "../contract/json-cases.ts";
import { isPlainObject, parseStored, type Problem, StoredJsonError, textOf } from "./json.ts";

const findProblem = (value: unknown): Problem | null => {
  const text = textOf(value);
  return typeof text === "string" ? null : text;
};
const lossOf = (text: string, pythonTokens = false): unknown => {
  try {
    parseStored(text, pythonTokens);
  } catch (error) {
    if (error instanceof StoredJsonError) return error.path;
    throw error;
  }
  return "none";
};

describe("textOf", () => {
  test.each(REFUSED)("L7 $name is found where it is", ({ make, path }) => {
    expect(findProblem(make())?.path).toEqual(path);
    expect(findProblem({ a: [0, make()] })?.path).toEqual(["a", 1, ...path]);
  });

  test.each(UNTOUCHED)("L7 nothing is wrong with %s", (text) => {
    expect(findProblem(JSON.parse(text))).toBeNull();
  });

  test("L7 whatever JSON can carry passes, and comes back the same", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        expect(findProblem(value)).toBeNull();
        const text = JSON.stringify(value);
        expect(JSON.stringify(parseStored(text))).toBe(text);
      }),
    );
  });

  test("L7 what passes is what JSON gives back equal", () => {
    const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withSparseArray: true });
    fc.assert(
      fc.property(anything, (value) => {
        if (findProblem(value) !== null) return;
        // Minus zero is the one number JSON does not tell from another.
        expect(JSON.parse(JSON.stringify(value), (_, v) => (Object.is(v, -0) ? 0 : v))).toEqual(
          withoutMinusZero(value),
        );
      }),
    );
  });

  test("L7 the same object twice is no cycle, in itself it is", () => {
    const shared = { a: [1] };
    expect(findProblem([shared, { shared, again: [shared] }])).toBeNull();
    const loop: { deep: unknown[] } = { deep: [] };
    loop.deep.push(loop);
    expect(findProblem(loop)).toMatchObject({ path: ["deep", 0], problem: "a cycle is not JSON" });
  });

  test("L7 nesting is limited before SQLite's own limit of 1000", () => {
    const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));
    expect(findProblem(nested(900))).toBeNull();
    expect(findProblem(nested(901))?.problem).toMatch(/deeper than 900/);
  });
});

test.each<[string, unknown, boolean]>([
  ["an object literal", { a: 1 }, true],
  ["one without a prototype", Object.create(null), true],
  ["null", null, false],
  ["an array", [], false],
  ["a Date", new Date(), false],
  ["a Map", new Map(), false],
  ["a function", () => {}, false],
  ["an object with a parent", Object.create({ a: 1 }), false],
  ["an Error", new Error("e"), false],
])("L7 isPlainObject of %s", (_, value, expected) => {
  expect(isPlainObject(value)).toBe(expected);
});

describe("parseStored", () => {
  test.each<[string, unknown]>([
    ["9007199254740991", "none"],
    ["9007199254740992", "none"],
    ["9007199254740993", []],
    ["-9007199254740993", []],
    ["9007199254740994", "none"],
    ["1152921504606847000", "none"],
    ["1152921504606846976", []],
    ["1152921504606846977", []],
    ["100000000000000000000", "none"],
    ["1000000000000000000001", []],
    ["9007199254740993.0", "none"],
    ["0.1000000000000000055511151231257827", "none"],
    ["1e308", "none"],
    ["1e309", []],
    ["-1E+400", []],
    ["1e-400", "none"],
    ["[1, [2, 9007199254740993]]", [1, 1]],
    ['{"a":{"b":[{},{"c":12345678901234567}]}}', ["a", "b", 1, "c"]],
    ['{"a":1,"b":{"x":[1,2,3],"y":"z"},"c":12345678901234567}', ["c"]],
    ['{"a":[],"b":[[],{}],"c":[{"d":1},12345678901234567]}', ["c", 1]],
    ['{"12345678901234567":"12345678901234567"}', "none"],
    ['{"a\\"b\\\\":12345678901234567}', ['a"b\\']],
    ['{"":{"__proto__":12345678901234567}}', ["", "__proto__"]],
    ['{"a, [{":["]}",12345678901234567]}', ["a, [{", 1]],
    ['{ "a" : "x" , "b" \n : [ "12345678901234567" , 12345678901234567 ] }', ["b", 1]],
    ['{"k":"\\u0031\\\\","n":12345678901234567}', ["n"]],
  ])("L7 digits lost in %s: %j", (text, path) => {
    expect(lossOf(text)).toEqual(path);
  });

  test("L7 integers come back digit by digit or are refused", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (n) => {
        const text = `[${n}]`;
        if (lossOf(text) === "none") expect(JSON.stringify(parseStored(text))).toBe(text);
        else expect(BigInt(Number(n)) === n && `${Number(n)}` === `${n}`).toBe(false);
      }),
    );
  });

  test.each(["", "{", "[1,]", "nul", "{'a':1}", "NaN", "[Infinity]", "\u0000"])("L7 %j is not JSON", (text) => {
    expect(lossOf(text)).toEqual([]);
  });

  test.each<[string, unknown]>([
    ["NaN", null],
    ["[NaN, Infinity, -Infinity, -1]", [null, null, null, -1]],
    ['{"NaN": NaN, "s": "NaN -Infinity \\" NaN", "t": "\\\\"}', { NaN: null, s: 'NaN -Infinity " NaN', t: "\\" }],
    ['["\\\\", NaN, "\\\\\\"NaN"]', ["\\", null, '\\"NaN']],
  ])("L7 Python's tokens are read as null in %s", (text, value) => {
    expect(parseStored(text, true)).toEqual(value);
    expect(lossOf(text)).toEqual([]);
  });

  test.each(["[NaN", '{"a": NaNa}', '"unclosed NaN', "[nan]", "[inf]", "[--Infinity]"])("L7 %s stays wrong", (text) => {
    expect(lossOf(text, true)).toEqual([]);
  });

  test("L7 digits are looked after where Python's tokens are, too", () => {
    expect(lossOf('{"a": NaN, "b": [9007199254740993]}', true)).toEqual(["b", 0]);
  });

  test("L7 a string with millions of escapes hides no number behind it", () => {
    const long = '\\"'.repeat(5_000_000);
    expect(lossOf(`{"s":"${long}","n":9007199254740993}`)).toEqual(["n"]);
    expect(parseStored(`["${long}", NaN]`, true)).toEqual([long.replaceAll("\\", ""), null]);
  });
});

function withoutMinusZero(value: unknown): unknown {
  if (Object.is(value, -0)) return 0;
  if (Array.isArray(value)) return value.map(withoutMinusZero);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutMinusZero(inner)]));
}
