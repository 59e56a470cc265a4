// What the browser says about space comes through as it is; what it does not say, or refuses, is no exception.
import { afterEach, describe, expect, test, vi } from "vitest";
import { estimate, requestPersistence } from "./index.ts";

const browser = (storage: object | undefined): void => void vi.stubGlobal("navigator", { storage });
const refuse = (): Promise<never> => Promise.reject(new TypeError("not here"));

afterEach(() => vi.unstubAllGlobals());

describe("L7: the site's space", () => {
  test("is told in bytes, with whether it may be evicted", async () => {
    for (const isPersistent of [true, false]) {
      browser({ estimate: async () => ({ usage: 7, quota: 100 }), persisted: async () => isPersistent });
      expect(await estimate()).toEqual({ usageBytes: 7, quotaBytes: 100, isPersistent });
    }
  });

  test("is null when the browser does not tell, refuses, or cannot be asked", async () => {
    const persisted = async (): Promise<boolean> => true;
    for (const storage of [{ estimate: async () => ({}), persisted }, { estimate: refuse, persisted }, undefined]) {
      browser(storage);
      expect(await estimate()).toBeNull();
    }
  });

  test("is persistent when the browser promises it, and not when it refuses or cannot be asked", async () => {
    const answers = [];
    for (const persist of [async () => true, async () => false, refuse]) {
      browser({ persist });
      answers.push(await requestPersistence());
    }
    browser(undefined);
    answers.push(await requestPersistence());
    expect(answers).toEqual([true, false, false, false]);
  });
});
