// An order, from the cart to the door, as a statechart (see chart.js):
//
//   Order                                        Shipment  (invoked by Order.Ship)
//   ├─ Cart                                      ├─ Called
//   ├─ Pay         "paid" counts in both         ├─ OnTheRoad
//   │  ├─ Waiting     timer → Reminded           └─ Delivered ■
//   │  └─ Reminded    timer → Cancelled
//   ├─ Fulfil      a fork: goes on when both regions are done
//   │  ├─ Pack     Picking → Boxed ■
//   │  └─ Invoice  Drafting → Sending → Booked ■
//   ├─ Ship
//   ├─ Done ■
//   └─ Cancelled ■

/** @typedef {import("./chart.js").Execution} Execution */

/** Seconds. Short, so that the demo sees one timer fire and one cancelled. */
const PAY_SECONDS = 0.12;
const LAST_CALL_SECONDS = 3600;

/** @param {Execution} exe @param {string} key */
const list = ({ context }, key) => /** @type {import("perdure").Json[]} */ (context[key] ?? []);

/** @type {import("./chart.js").Chart} */
export const orderChart = {
  Order: {
    initial: "Order.Cart",
    on: { cancel: () => ({ to: "Order.Cancelled" }) },
  },
  "Order.Cart": {
    tell: ({ id }) => [{ to: "customer", kind: "shop_open", data: { reply_to: id } }],
    on: {
      add_item: (exe, { data }) => ({ context: { items: [...list(exe, "items"), data["item"] ?? null] } }),
      checkout: () => ({ to: "Order.Pay" }),
    },
  },

  "Order.Pay": {
    initial: "Order.Pay.Waiting",
    on: { paid: (_exe, { data }) => ({ to: "Order.Fulfil", context: { paid: data["amount"] ?? null } }) },
  },
  "Order.Pay.Waiting": {
    after: PAY_SECONDS,
    on: { timeout: () => ({ to: "Order.Pay.Reminded" }) },
  },
  "Order.Pay.Reminded": {
    after: LAST_CALL_SECONDS,
    tell: ({ id }) => [{ to: "customer", kind: "reminder", data: { reply_to: id } }],
    on: { timeout: () => ({ to: "Order.Cancelled" }) },
  },

  "Order.Fulfil": {
    start: (exe) => [
      { path: "Order.Fulfil.Pack", context: { items: list(exe, "items"), picked: [] } },
      { path: "Order.Fulfil.Invoice", context: { amount: exe.context["paid"] ?? null } },
    ],
    on: {
      child_done: ({ children }) =>
        Object.values(children).every(({ finished }) => finished) ? { to: "Order.Ship" } : {},
    },
  },
  "Order.Fulfil.Pack": {
    initial: "Order.Fulfil.Pack.Picking",
    tell: (exe) => [{ to: "warehouse", kind: "pick", data: { reply_to: exe.id, items: list(exe, "items") } }],
  },
  "Order.Fulfil.Pack.Picking": {
    on: {
      picked: (exe, { data }) => {
        const picked = [...list(exe, "picked"), data["item"] ?? null];
        const all = picked.length === list(exe, "items").length;
        return { context: { picked }, ...(all ? { to: "Order.Fulfil.Pack.Boxed" } : {}) };
      },
    },
  },
  "Order.Fulfil.Pack.Boxed": { outcome: "boxed" },
  "Order.Fulfil.Invoice": {
    initial: "Order.Fulfil.Invoice.Drafting",
    tell: (exe) => [{ to: "accounting", kind: "bill", data: { reply_to: exe.id } }],
  },
  "Order.Fulfil.Invoice.Drafting": { on: { drafted: () => ({ to: "Order.Fulfil.Invoice.Sending" }) } },
  "Order.Fulfil.Invoice.Sending": { on: { sent: () => ({ to: "Order.Fulfil.Invoice.Booked" }) } },
  "Order.Fulfil.Invoice.Booked": { outcome: "booked" },

  "Order.Ship": {
    start: (exe) => [{ path: "Shipment", context: { items: list(exe, "items"), rung: 0 } }],
    on: { child_done: () => ({ to: "Order.Done" }) },
  },
  "Order.Done": { outcome: "delivered" },
  "Order.Cancelled": { outcome: "cancelled" },

  Shipment: { initial: "Shipment.Called" },
  "Shipment.Called": {
    tell: ({ id }) => [{ to: "carrier", kind: "collect", data: { reply_to: id } }],
    on: { collected: () => ({ to: "Shipment.OnTheRoad" }) },
  },
  "Shipment.OnTheRoad": {
    on: {
      nobody_home: ({ context }) => ({ context: { rung: Number(context["rung"]) + 1 } }),
      handed_over: () => ({ to: "Shipment.Delivered" }),
    },
  },
  "Shipment.Delivered": { outcome: "delivered" },
};
