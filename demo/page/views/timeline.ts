// The trace of the selected order, the youngest step first: who took it, what happened, and what it left to do.
import { h } from "../dom.ts";
import type { Snapshot } from "../model.ts";
import type { Part } from "../order.ts";
import { dateOf, left, placeOf, timeOf, wordOf } from "./words.ts";

const NAMES: Record<Part, string> = { order: "Order", pack: "Pack", invoice: "Invoice", shipment: "Shipment" };
const ROOTS = { order: "Order", pack: "Order.Fulfil.Pack", invoice: "Order.Fulfil.Invoice", shipment: "Shipment" };
/** A timer this late is told: the page was closed, or asleep. */
const LATE_SECONDS = 2;

type Step = Snapshot["steps"][number];

export function timeline({ steps }: Snapshot): HTMLElement[] {
  if (steps.length === 0)
    return [h("p", { key: "none", class: "quiet none" }, "What happens to the order is listed here.")];
  const rows = steps.map((step) =>
    h(
      "li",
      { key: `${step.part} ${step.index}`, class: "step", "data-part": step.part },
      h("time", { datetime: new Date(step.at * 1000).toISOString(), title: dateOf(step.at) }, timeOf(step.at)),
      h("span", { class: "lane" }, NAMES[step.part]),
      h(
        "div",
        { class: "what" },
        h("strong", {}, wordOf(step.event.kind)),
        step.event.text === "" ? null : h("span", { class: "quiet" }, ` ${step.event.text}`),
        ` ${moved(step)}`,
        ...leavings(step).map((text) => h("span", { class: "leaving" }, text)),
      ),
    ),
  );
  return [h("ol", { key: "steps", class: "steps", reversed: true }, ...rows)];
}

function moved({ part, from, to, handled }: Step): string {
  if (!handled) return "· no state waits for it";
  if (from === to) return "";
  const place = (path: string | null): string => placeOf(path, ROOTS[part]);
  return from === null ? `→ ${place(to)}` : `${place(from)} → ${place(to)}`;
}

function leavings({ emits, timers, spawns, late }: Step): string[] {
  return [
    ...(late !== null && late > LATE_SECONDS ? [`${left(late)} late, the page was away`] : []),
    ...timers.map(({ op, path }) => `timer ${placeOf(path)} ${op === "schedule" ? "set" : "cancelled"}`),
    ...spawns.map((id) => `starts ${placeOf(id.split(":")[1] ?? id)}`),
    ...emits.map(({ to, kind }) =>
      kind === "child_done" ? "tells the order" : `tells ${to ?? "everybody"}: ${wordOf(kind)}`,
    ),
  ];
}
