// The order of the page: the chart of the other demo (../order-chart.js), with times a person can watch, and what a
// person can do to it. Pure: knows no store and no clock.
import type { Execution, JsonObject } from "perdure";
import { type Chart, handlerOf } from "../chart.js";
import { orderChart } from "../order-chart.js";

/** How long to wait for the money before the customer is reminded. Short enough to sit and watch. */
const PAY_SECONDS = 30;
/** The last call. Longer than the 2^31 - 1 ms that a timer of the browser can count. */
const LAST_CALL_SECONDS = 30 * 24 * 3600;

const cancel = (): { to: string } => ({ to: "Order.Cancelled" });

export const chart: Chart = {
  ...orderChart,
  // Nobody cancels what is paid.
  Order: { initial: "Order.Cart" },
  "Order.Cart": { on: { ...orderChart["Order.Cart"]?.on, cancel } },
  "Order.Pay": {
    ...orderChart["Order.Pay"],
    on: { ...orderChart["Order.Pay"]?.on, refused: () => ({ to: "Order.Refused" }), cancel },
  },
  "Order.Pay.Waiting": { ...orderChart["Order.Pay.Waiting"], after: PAY_SECONDS },
  "Order.Pay.Reminded": { ...orderChart["Order.Pay.Reminded"], after: LAST_CALL_SECONDS },
  "Order.Cancelled": { outcome: "cancelled", status: "CANCELLED" },
  "Order.Refused": { outcome: "payment refused", status: "FAILED" },
};

/** Parties outside the page. What is for them goes to their mailbox. */
export const OUTSIDE: ReadonlySet<string> = new Set(["customer", "warehouse", "accounting", "carrier"]);

/** The Executions an order is made of: itself, its two regions and the child it invokes. The ids are known beforehand. */
export const partsOf = (orderId: string): Record<Part, string> => ({
  order: orderId,
  pack: `${orderId}:Order.Fulfil.Pack:1`,
  invoice: `${orderId}:Order.Fulfil.Invoice:1`,
  shipment: `${orderId}:Shipment:1`,
});
export type Part = "order" | "pack" | "invoice" | "shipment";

/** What the shop has, and what it costs. */
export const SHOP: Readonly<Record<string, number>> = { lamp: 49, kettle: 38.5, atlas: 42, teapot: 27, clock: 64 };

export const itemsOf = (exe: Execution): string[] => (exe.context["items"] ?? []) as string[];
const pickedOf = (exe: Execution): string[] => (exe.context["picked"] ?? []) as string[];
export const priceOf = (exe: Execution): number => itemsOf(exe).reduce((sum, item) => sum + (SHOP[item] ?? 0), 0);
const nextToPick = (exe: Execution): string | undefined => itemsOf(exe)[pickedOf(exe).length];

/** An event that somebody can cause. */
export interface Trigger {
  readonly kind: string;
  /** Which part of the order it is for. */
  readonly part: Part;
  readonly label: (exe: Execution | null) => string;
  readonly data: (exe: Execution, item: string) => JsonObject;
  /** What must hold besides that a state waits for it. */
  readonly ready?: (exe: Execution) => boolean;
}

const plain = (kind: string, part: Part, label: string): Trigger => ({
  kind,
  part,
  label: () => label,
  data: () => ({}),
});

export const TRIGGERS = {
  addItem: { ...plain("add_item", "order", "Add"), data: (_exe, item) => ({ item }) },
  checkout: { ...plain("checkout", "order", "Check out"), ready: (exe) => itemsOf(exe).length > 0 },
  paid: { ...plain("paid", "order", "Pay"), data: (exe) => ({ amount: priceOf(exe) }) },
  refused: plain("refused", "order", "Refuse card"),
  cancel: plain("cancel", "order", "Cancel order"),
  picked: {
    ...plain("picked", "pack", "Pick"),
    label: (exe) => `Pick ${(exe === null ? undefined : nextToPick(exe)) ?? "item"}`,
    data: (exe) => ({ item: nextToPick(exe) ?? null }),
    ready: (exe) => nextToPick(exe) !== undefined,
  },
  drafted: plain("drafted", "invoice", "Draft is done"),
  sent: plain("sent", "invoice", "Send"),
  collected: plain("collected", "shipment", "Collect"),
  nobodyHome: plain("nobody_home", "shipment", "Nobody home"),
  handedOver: plain("handed_over", "shipment", "Hand over"),
} satisfies Record<string, Trigger>;

/** Whether an event would do something now. */
export function applies(trigger: Trigger, exe: Execution | null): exe is Execution {
  if (exe === null || exe.status !== "RUNNING") return false;
  return handlerOf(chart, exe, trigger.kind) !== undefined && trigger.ready?.(exe) !== false;
}

/** Ids in the order of time, the youngest first: listings are in the order of ids. */
export function newOrderId(): string {
  const untilTheEnd = (9_999_999_999_999 - Date.now()).toString(36);
  const random = crypto.randomUUID().slice(0, 5);
  return `${untilTheEnd}-${random}`;
}

/** What people call an order. */
export const codeOf = (id: string): string => id.slice(6, 15).toUpperCase();
