// The strip at the top: how fast the last commit was, where the news came from, how much is stored, and the way out.
import type { StorageEstimate } from "perdure/indexeddb";
import { h } from "../dom.ts";
import type { OfflineState } from "../offline.ts";
import { milliseconds, size, timeOf } from "./words.ts";

export interface Gauges {
  durability: "strict" | "relaxed";
  /** Milliseconds of the last commits, the last one last. */
  commits: number[];
  news: { readonly origin: "local" | "remote"; readonly at: number } | null;
  /** Null when the browser does not say. */
  storage: StorageEstimate | null;
  offline: OfflineState;
}

interface InstrumentActions {
  durability(choice: Gauges["durability"]): void;
  persist(): void;
  download(): void;
  takeOver(): void;
}

const OFFLINE: Record<OfflineState, string> = {
  no: "Needs the network",
  "getting ready": "Getting ready…",
  ready: "Works offline",
  "new version": "New version",
};

export function instruments(gauges: Gauges, actions: InstrumentActions): HTMLElement[] {
  const { commits, news, storage, offline } = gauges;
  const last = commits.at(-1);
  return [
    gauge(
      "Last commit",
      last === undefined ? "none yet" : milliseconds(last),
      h("small", {}, commits.length > 1 ? `median ${milliseconds(median(commits))}` : "measured here"),
      bars(commits),
    ),
    gauge("Durability", durability(gauges.durability, actions), h("small", {}, TOLD[gauges.durability])),
    gauge(
      "Last change",
      news === null ? "none yet" : news.origin === "local" ? "this tab" : "another tab",
      h("small", { class: "news" }, news === null ? "open a second tab" : timeOf(news.at)),
    ),
    gauge(
      "Storage",
      storage === null ? "unknown" : size(storage.usageBytes),
      storage?.isPersistent === false
        ? h("button", { type: "button", class: "small", click: actions.persist }, "Ask to keep it")
        : h("small", {}, storage === null ? "the browser does not say" : `of ${size(storage.quotaBytes)}, kept`),
    ),
    gauge(
      "Network",
      OFFLINE[offline],
      offline === "new version"
        ? h("button", { type: "button", class: "small", click: actions.takeOver }, "Switch to it")
        : h("small", {}, offline === "ready" ? "all files are kept" : " "),
    ),
  ];
}

/** The way to a second tab, and the way out. */
export const waysOut = ({ download }: InstrumentActions): HTMLElement[] => [
  h("a", { class: "button", href: "./", target: "_blank", rel: "noopener" }, "Open a second tab"),
  h("button", { type: "button", class: "go", click: download }, "Download database"),
];

const TOLD = { strict: "outlives a power cut", relaxed: "outlives the browser" } as const;

function durability(chosen: Gauges["durability"], actions: InstrumentActions): HTMLElement {
  const options = (["strict", "relaxed"] as const).map((one) => h("option", { selected: one === chosen }, one));
  const change = ({ target }: Event): void =>
    actions.durability((target as HTMLSelectElement).value === "relaxed" ? "relaxed" : "strict");
  return h("select", { "aria-label": "Durability", change }, ...options);
}

function gauge(name: string, value: string | HTMLElement, ...below: (HTMLElement | null)[]): HTMLElement {
  return h("div", { class: "gauge", key: name }, h("span", { class: "name" }, name), h("b", {}, value), ...below);
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** The last commits as bars, the tallest one full. */
function bars(commits: readonly number[]): HTMLElement | null {
  const shown = commits.slice(-24);
  if (shown.length < 2) return null;
  const tallest = Math.max(...shown);
  const all = shown.map((ms) => {
    const bar = h("i");
    bar.style.setProperty("--height", String(ms / tallest));
    return bar;
  });
  return h("span", { class: "bars", "aria-hidden": "true" }, ...all);
}
