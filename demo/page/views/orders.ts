// The list of orders: filter, pages, and making new ones.
import type { ExecutionSummary, Status } from "perdure";
import { h } from "../dom.ts";
import type { Look, Snapshot } from "../model.ts";
import { codeOf } from "../order.ts";
import { placeOf } from "./words.ts";

const FILTERS: readonly (readonly [Status | null, string])[] = [
  [null, "All"],
  ["RUNNING", "Running"],
  ["DONE", "Done"],
  ["CANCELLED", "Cancelled"],
  ["FAILED", "Failed"],
];

interface OrdersActions {
  newOrder(): void;
  fill(): void;
  filter(status: Status | null): void;
  turn(page: "next" | "previous" | "first"): void;
  select(id: string): void;
}

export function orders(seen: Snapshot, look: Look, filling: number | null, actions: OrdersActions): HTMLElement[] {
  const page = look.cursors.length;
  const turn = (to: "next" | "previous" | "first", label: string, can: boolean): HTMLElement =>
    h("button", { type: "button", disabled: !can, click: () => actions.turn(to) }, label);
  return [
    h(
      "div",
      { class: "buttons make" },
      h("button", { type: "button", class: "go", click: actions.newOrder }, "New order"),
      h("button", { type: "button", disabled: filling !== null, click: actions.fill }, "Make 500 orders"),
    ),
    filling === null
      ? h("div", { key: "progress" })
      : h(
          "div",
          { key: "progress", class: "progress" },
          h("progress", { max: 500, value: filling, "aria-label": "Orders made" }),
          h("span", {}, filling < 500 ? `${filling} of 500` : "delivering…"),
        ),
    h(
      "div",
      { class: "filter", role: "group", "aria-label": "Status" },
      ...FILTERS.map(([status, label]) =>
        h(
          "button",
          { type: "button", "aria-pressed": String(look.status === status), click: () => actions.filter(status) },
          label,
        ),
      ),
    ),
    seen.orders.length === 0
      ? h(
          "p",
          { key: "none", class: "quiet none" },
          look.status === null ? "No orders yet." : "No order has this status.",
        )
      : h(
          "ul",
          { key: "list", class: "order-list" },
          ...seen.orders.map((one) => row(one, one.id === look.selected, actions)),
        ),
    h(
      "nav",
      { class: "pages", "aria-label": "Pages of orders" },
      turn("first", "First", page > 1),
      turn("previous", "Back", page > 1),
      h("span", { class: "quiet", "aria-live": "polite" }, `Page ${page}`),
      turn("next", "Next", seen.nextCursor !== null),
    ),
  ];
}

function row(one: ExecutionSummary, selected: boolean, { select }: OrdersActions): HTMLElement {
  return h(
    "li",
    { key: one.id },
    h(
      "button",
      { type: "button", class: "order", "aria-current": selected ? "true" : undefined, click: () => select(one.id) },
      h("span", { class: `lamp ${one.status.toLowerCase()}`, "aria-hidden": "true" }),
      h("span", { class: "code" }, codeOf(one.id)),
      h("span", { class: "where" }, one.status === "RUNNING" ? placeOf(one.active_path) : (one.outcome ?? one.status)),
      h("span", { class: "quiet" }, `v${one.version}`),
    ),
  );
}
