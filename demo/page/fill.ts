// Makes many orders at once, in every state an order can be in: each event a commit of its own, as if clicked.
import { newEvent } from "perdure";
import { newOrderId, partsOf, SHOP } from "./order.ts";
import type { Relay } from "./relay.ts";
import type { Runtime } from "./runtime.ts";

/** Commits that wait together share a flush. */
const TOGETHER = 128;

type Work = (id: string, items: readonly string[]) => Promise<void>;

/** Without a relay, paid orders wait for their children. `onProgress` gets the number of orders made so far. */
export async function fill(
  count: number,
  { runtime, relay, onProgress }: { runtime: Runtime; relay: Relay | null; onProgress: (made: number) => void },
): Promise<void> {
  const send = (id: string, kind: string, data = {}): Promise<void> => runtime.handle(id, newEvent({ kind, data }));
  /** One event after the other, for one Execution. */
  const sendAll = async (id: string, ...kinds: string[]): Promise<void> => {
    for (const kind of kinds) await send(id, kind);
  };
  const shop = Object.keys(SHOP);
  const orders = Array.from({ length: count }, (_, i) => ({
    id: newOrderId(),
    items: Array.from({ length: 1 + (i % 3) }, (_item, k) => shop[(i + k) % shop.length]!),
    kind: ENDS[i % ENDS.length]!,
  }));
  let made = 0;

  const opening: Record<(typeof ENDS)[number], Work> = {
    cart: async () => {},
    unpaid: (id) => sendAll(id, "checkout"),
    cancelled: (id) => sendAll(id, "checkout", "cancel"),
    refused: (id) => sendAll(id, "checkout", "refused"),
    packing: (id) => sendAll(id, "checkout", "paid"),
    delivered: (id) => sendAll(id, "checkout", "paid"),
  };
  await inBatches(orders, async ({ id, items, kind }) => {
    await runtime.startOrder(id);
    for (const item of items) await send(id, "add_item", { item });
    await opening[kind](id, items);
    onProgress(++made);
  });

  // The rest of the way goes through the relay: it starts the regions, and the shipment when both are done.
  if (relay === null) return;
  const delivered = orders.filter(({ kind }) => kind === "delivered");
  await relay.settle();
  await inBatches(delivered, async ({ id, items }) => {
    const { pack, invoice } = partsOf(id);
    const pick = async (): Promise<void> => {
      for (const item of items) await send(pack, "picked", { item });
    };
    await Promise.all([pick(), sendAll(invoice, "drafted", "sent")]);
  });
  await relay.settle();
  await inBatches(delivered, ({ id }) => sendAll(partsOf(id).shipment, "collected", "handed_over"));
  await relay.settle();
}

/** Where they get to, one after the other. */
const ENDS = ["cart", "unpaid", "delivered", "cancelled", "cart", "packing", "unpaid", "refused"] as const;

async function inBatches<T>(list: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let i = 0; i < list.length; i += TOGETHER) await Promise.all(list.slice(i, i + TOGETHER).map(work));
}
