// A CPU profile of the timed parts alone: self time by function.
import { Session } from "node:inspector/promises";

/** @typedef {{ where: string, microseconds: number, share: number }} Hot time of its own, for each commit */

/** V8's name for the time when nothing ran, and the inspector's own call. */
const NOT_OURS = ["(idle)", "dispatch"];

export class Profile {
  #session = new Session();
  /** @type {Map<string, number>} function → microseconds of its own */
  #self = new Map();

  async start() {
    this.#session.connect();
    await this.#session.post("Profiler.enable");
    await this.#session.post("Profiler.setSamplingInterval", { interval: 100 });
    await this.#session.post("Profiler.start");
  }

  async stop() {
    const { profile } = await this.#session.post("Profiler.stop");
    this.#session.disconnect();
    const places = new Map(profile.nodes.map(({ id, callFrame }) => [id, describe(callFrame)]));
    profile.samples?.forEach((id, i) => {
      const place = places.get(id) ?? "?";
      this.#self.set(place, (this.#self.get(place) ?? 0) + (profile.timeDeltas?.[i] ?? 0));
    });
  }

  /**
   * The functions with the most time of their own, and their share of the time when something ran.
   *
   * @param {number} commits how many ran meanwhile
   * @returns {Hot[]}
   */
  hottest(commits, count = 25) {
    const ours = [...this.#self].filter(([where]) => !NOT_OURS.includes(where));
    const total = ours.reduce((all, [, microseconds]) => all + microseconds, 0);
    return ours
      .sort(([, a], [, b]) => b - a)
      .slice(0, count)
      .map(([where, microseconds]) => ({ where, microseconds: microseconds / commits, share: microseconds / total }));
  }
}

/** SQLite's own functions have lost their names: together they are one. */
/** @param {import("node:inspector").Runtime.CallFrame} frame */
function describe({ functionName, url, lineNumber }) {
  if (url.startsWith("wasm:")) return "SQLite (WebAssembly)";
  const file = url.split("/").at(-1);
  return `${functionName || "(anonymous)"}${file ? ` ${file}:${lineNumber + 1}` : ""}`;
}
