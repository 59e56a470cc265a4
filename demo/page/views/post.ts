// What commits left to do: messages to deliver, children to start; and what arrived outside.
import type { OutboxRow, SpawnRow } from "perdure";
import { h } from "../dom.ts";
import { SHOWN_ROWS, type Snapshot } from "../model.ts";
import { codeOf } from "../order.ts";
import { placeOf, timeOf, wordOf } from "./words.ts";

interface PostActions {
  relay(on: boolean): void;
  deliver(row: OutboxRow): void;
  startChild(row: SpawnRow): void;
}

export function post({ outbox, spawns, delivered }: Snapshot, relayOn: boolean, actions: PostActions): HTMLElement[] {
  return [
    h(
      "label",
      { class: "switch" },
      h("input", {
        type: "checkbox",
        role: "switch",
        checked: relayOn,
        change: ({ target }) => actions.relay((target as HTMLInputElement).checked),
      }),
      h("span", {}, "Relay"),
      h("small", { class: "quiet" }, relayOn ? "delivers by itself" : "off in this tab: do it by hand"),
    ),
    ...waiting(
      "Messages to deliver",
      outbox.map((row) => {
        const inside = row.event.kind === "child_done";
        const to = inside ? `order ${codeOf(row.target_id ?? "")}` : (row.target_id ?? "everybody");
        const deliver = { type: "button", click: () => actions.deliver(row) };
        return h(
          "li",
          { key: `m${row.seq}` },
          h("span", { class: "seq" }, `#${row.seq}`),
          h("span", {}, h("strong", {}, wordOf(row.event.kind)), ` to ${to}`),
          h("button", deliver, "Deliver", h("span", { class: "sr" }, ` message ${row.seq}`)),
        );
      }),
    ),
    ...waiting(
      "Children to start",
      spawns.map((row) =>
        h(
          "li",
          { key: `s${row.seq}` },
          h("span", { class: "seq" }, `#${row.seq}`),
          h("span", {}, h("strong", {}, placeOf(row.root_path)), ` for ${codeOf(row.parent_id)}`),
          h(
            "button",
            { type: "button", click: () => actions.startChild(row) },
            "Start",
            h("span", { class: "sr" }, ` child ${row.seq}`),
          ),
        ),
      ),
    ),
    h("h3", {}, "Arrived outside"),
    delivered.length === 0
      ? h(
          "p",
          { key: "none", class: "quiet none" },
          "Customers, warehouse, accounting and carrier have heard nothing yet.",
        )
      : h(
          "ul",
          { key: "delivered", class: "rows delivered" },
          ...delivered.map((step) =>
            h(
              "li",
              { key: step.event.id },
              h("time", {}, timeOf(step.at)),
              h(
                "span",
                {},
                h("strong", {}, step.to),
                ` ${wordOf(step.event.kind)} `,
                h("span", { class: "quiet" }, step.event.text),
              ),
            ),
          ),
        ),
    h("p", { class: "quiet foot" }, "Each message has an id and counts once, however often it is sent."),
  ];
}

function waiting(title: string, rows: HTMLElement[]): HTMLElement[] {
  const more = rows.length > SHOWN_ROWS;
  const count = more ? `${SHOWN_ROWS}+` : String(rows.length);
  return [
    h("h3", {}, title, " ", h("span", { class: "count", "data-count": title }, count)),
    rows.length === 0
      ? h("p", { key: `no ${title}`, class: "quiet none" }, "None waits.")
      : h("ul", { key: title, class: "rows" }, ...rows.slice(0, SHOWN_ROWS)),
  ];
}
