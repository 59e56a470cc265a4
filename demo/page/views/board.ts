// The statechart of one order, drawn as a board: a box for each state, inside one another as the states are, lit where
// the order is; regions beside each other; and in each box the events that can happen there.
import type { Execution } from "perdure";
import { h } from "../dom.ts";
import type { Snapshot } from "../model.ts";
import { applies, codeOf, itemsOf, priceOf, SHOP, type Part, type Trigger, TRIGGERS } from "../order.ts";
import { now } from "../runtime.ts";
import { dateOf, left, placeOf } from "./words.ts";

interface BoardActions {
  send(trigger: Trigger, exe: Execution): void;
  newOrder(): void;
}

export function board(seen: Snapshot, actions: BoardActions): HTMLElement[] {
  const { order } = seen.parts;
  if (order === null) return noOrder(actions);
  const been = pathsBeen(seen);

  function button(trigger: Trigger, style = ""): HTMLElement {
    const exe = seen.parts[trigger.part];
    const can = applies(trigger, exe);
    const click = can ? () => actions.send(trigger, exe) : undefined;
    return h("button", { type: "button", class: style, disabled: !can, click }, trigger.label(exe));
  }
  function state(path: string, name: string, part: Part, ...inside: (HTMLElement | null)[]): HTMLElement {
    const exe = seen.parts[part];
    const active = exe?.active_path ?? "";
    const here = active === path || active.startsWith(`${path}.`);
    const final = here && exe !== null && exe.status !== "RUNNING";
    const mark = here ? (final ? `is ${exe.status.toLowerCase()}` : "is active") : been.has(path) ? "was" : "";
    const kind = inside.length > 0 ? "state parent" : "state";
    return h(
      "div",
      { class: `${kind} ${mark}`, "data-state": path, "aria-current": here ? "step" : undefined },
      h("h3", {}, h("span", { class: "lamp", "aria-hidden": "true" }), name, h("span", { class: "sr" }, said(mark))),
      ...inside,
    );
  }
  const leaf = (path: string, name: string, part: Part): HTMLElement => state(path, name, part);
  const buttons = (...all: HTMLElement[]): HTMLElement => h("div", { class: "buttons" }, ...all);
  const chain = (...all: HTMLElement[]): HTMLElement => h("div", { class: "chain" }, ...all);

  return [
    h(
      "div",
      { class: "board-head" },
      h("h2", { id: "board-title" }, "Order ", h("span", { class: "code" }, codeOf(order.id))),
      h("span", { class: `status ${order.status.toLowerCase()}` }, statusWord(order)),
      h("span", { class: "quiet version", title: "How many commits made this order" }, `version ${order.version}`),
      total(order),
      h("p", { class: "sr", "aria-live": "polite" }, `The order is in ${placeOf(order.active_path)}`),
    ),
    h(
      "div",
      { class: "chart" },
      state(
        "Order.Cart",
        "Cart",
        "order",
        basket(order),
        buttons(shopSelect(order), button(TRIGGERS.addItem), button(TRIGGERS.checkout, "go")),
      ),
      state(
        "Order.Pay",
        "Pay",
        "order",
        chain(
          state("Order.Pay.Waiting", "Waiting", "order", countdown(seen, "Order.Pay.Waiting")),
          state("Order.Pay.Reminded", "Reminded", "order", countdown(seen, "Order.Pay.Reminded")),
        ),
        buttons(button(TRIGGERS.paid, "go"), button(TRIGGERS.refused)),
      ),
      state(
        "Order.Fulfil",
        "Fulfil",
        "order",
        h(
          "div",
          { class: "regions" },
          h(
            "div",
            { class: "region", "aria-label": "Region Pack", role: "group" },
            h("h4", {}, "Pack"),
            chain(
              leaf("Order.Fulfil.Pack.Picking", "Picking", "pack"),
              leaf("Order.Fulfil.Pack.Boxed", "Boxed", "pack"),
            ),
            buttons(button(TRIGGERS.picked, "go")),
          ),
          h(
            "div",
            { class: "region", "aria-label": "Region Invoice", role: "group" },
            h("h4", {}, "Invoice"),
            chain(
              leaf("Order.Fulfil.Invoice.Drafting", "Drafting", "invoice"),
              leaf("Order.Fulfil.Invoice.Sending", "Sending", "invoice"),
              leaf("Order.Fulfil.Invoice.Booked", "Booked", "invoice"),
            ),
            buttons(button(TRIGGERS.drafted, "go"), button(TRIGGERS.sent, "go")),
          ),
        ),
      ),
      state(
        "Order.Ship",
        "Ship",
        "order",
        h(
          "div",
          { class: "invoked", role: "group", "aria-label": "Invoked child Shipment" },
          h("h4", {}, "Shipment", h("span", { class: "quiet" }, " an Execution of its own")),
          chain(
            leaf("Shipment.Called", "Called", "shipment"),
            leaf("Shipment.OnTheRoad", "On the road", "shipment"),
            leaf("Shipment.Delivered", "Delivered", "shipment"),
          ),
          buttons(button(TRIGGERS.collected, "go"), button(TRIGGERS.nobodyHome), button(TRIGGERS.handedOver, "go")),
        ),
      ),
      h(
        "div",
        { class: "ends" },
        leaf("Order.Done", "Done", "order"),
        leaf("Order.Cancelled", "Cancelled", "order"),
        leaf("Order.Refused", "Refused", "order"),
        buttons(button(TRIGGERS.cancel, "danger")),
      ),
    ),
  ];
}

function noOrder({ newOrder }: BoardActions): HTMLElement[] {
  return [
    h("div", { class: "board-head" }, h("h2", { id: "board-title" }, "No order yet")),
    h(
      "div",
      { class: "empty" },
      h(
        "p",
        {},
        "An order is a statechart: it waits, runs two things side by side, starts a child. Make one and drive it.",
      ),
      h("button", { type: "button", class: "go", click: newOrder }, "Make the first order"),
    ),
  ];
}

/** Every state that the steps went through, with those around it. */
function pathsBeen({ steps }: Snapshot): Set<string> {
  const paths = steps.flatMap(({ from, to }) => [from, to]).filter((path) => path !== null);
  return new Set(paths.flatMap((path) => path.split(".").map((_, i, parts) => parts.slice(0, i + 1).join("."))));
}

function countdown({ timers, parts }: Snapshot, path: string): HTMLElement | null {
  const timer = timers.find((one) => one.execution_id === parts.order?.id && one.path === path);
  if (timer === undefined) return h("p", { class: "countdown off" }, path.endsWith("Waiting") ? "30 s" : "30 days");
  const attributes = { class: "countdown", role: "timer", "data-fire-at": timer.fire_at, title: dateOf(timer.fire_at) };
  return h("p", attributes, left(timer.fire_at - now()));
}

function shopSelect(order: Execution): HTMLElement {
  const options = Object.entries(SHOP).map(([item, price]) =>
    h("option", { value: item }, `${item} € ${price.toFixed(2)}`),
  );
  const attributes = { id: "shop", "aria-label": "Item", disabled: order.active_path !== "Order.Cart" };
  return h("select", attributes, ...options);
}

function basket(order: Execution): HTMLElement {
  const items = itemsOf(order);
  if (items.length === 0) return h("p", { class: "basket quiet" }, "Empty. Add something, then check out.");
  return h("p", { class: "basket" }, items.join(", "));
}

function total(order: Execution): HTMLElement {
  const paid = order.context["paid"] === undefined ? "" : " paid";
  return h("p", { class: "price" }, `€ ${priceOf(order).toFixed(2)}${paid}`);
}

const statusWord = ({ status, outcome }: Execution): string => (status === "RUNNING" ? "running" : (outcome ?? status));

function said(mark: string): string {
  if (mark === "") return "";
  return mark === "was" ? ", passed" : mark === "is active" ? ", active" : ", reached";
}
