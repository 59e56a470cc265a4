// The page on an open store: what it shows, and what each button does. All that lasts is in the store; what is here is
// gone with the page, and none the worse.
import { type AsyncSqliteStore, type Event, newEvent, type Status } from "perdure";
import { estimate, requestPersistence } from "perdure/indexeddb";
import { coalesced } from "./coalesced.ts";
import { byId, show } from "./dom.ts";
import { fill } from "./fill.ts";
import { type Look, read, remember, rememberedLook, type Snapshot } from "./model.ts";
import { workOffline } from "./offline.ts";
import { newOrderId, partsOf } from "./order.ts";
import { alarm, relayOf } from "./relay.ts";
import { now, runtimeOn } from "./runtime.ts";
import { chooseDurability, saveAs } from "./storage.ts";
import { board } from "./views/board.ts";
import { type Gauges, instruments, waysOut } from "./views/instruments.ts";
import { type Notice, notices } from "./views/notices.ts";
import { orders } from "./views/orders.ts";
import { post } from "./views/post.ts";
import { timeline } from "./views/timeline.ts";
import { left } from "./views/words.ts";

const KEPT_TIMES = 48;
const TICK_MS = 250;
/** How long to wait before reading again: nobody sees more, and 500 orders in the making need the time. */
const PAUSE_MS = 80;

export function run(store: AsyncSqliteStore, durability: Gauges["durability"]): void {
  const look: Look = rememberedLook();
  const gauges: Gauges = { durability, commits: [], news: null, storage: null, offline: "no" };
  let troubles: readonly Notice[] = [];
  let seen: Snapshot | null = null;
  let filling: number | null = null;

  const runtime = runtimeOn(store, (ms) => {
    gauges.commits = [...gauges.commits, ms].slice(-KEPT_TIMES);
  });
  const relay = relayOf(
    runtime,
    () => look.relay,
    (error) => trouble(error, () => relay.kick("local")),
  );
  const clock = alarm(() => relay.kick("local"));
  const refresh = coalesced(
    async () => {
      let found = await read(store, look);
      const [first] = found.orders;
      if (found.parts.order === null && first !== undefined) {
        look.selected = first.id;
        found = await read(store, look);
      }
      seen = found;
      clock.set(found.timers[0]?.fire_at ?? null);
      draw();
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    },
    (error) => trouble(error, () => void refresh()),
  );

  function trouble(error: unknown, again: () => void): void {
    // The same trouble again and again is one trouble.
    const others = troubles.filter((one) => String(one.error) !== String(error));
    troubles = [...others, { error, again }];
    draw();
  }
  /** Does what a button says, and tells when that failed. */
  function act(work: () => Promise<unknown>): void {
    work().catch((error: unknown) => trouble(error, () => act(work)));
  }
  function send(id: string, event: Event): void {
    // Trying again sends the same event, which counts once.
    act(() => runtime.handle(id, event));
  }
  function lookAt(change: Partial<Look>): void {
    Object.assign(look, change);
    remember(look);
    void refresh();
  }
  async function measure(): Promise<void> {
    gauges.storage = await estimate();
    draw();
  }

  function newOrder(): void {
    const id = newOrderId();
    act(async () => {
      await runtime.startOrder(id);
      lookAt({ selected: id, status: null, cursors: [null] });
      // Now there is something worth keeping.
      if (gauges.storage?.isPersistent === false) await requestPersistence();
      await measure();
    });
  }
  async function makeMany(): Promise<void> {
    try {
      filling = 0;
      draw();
      await fill(500, { runtime, relay: look.relay ? relay : null, onProgress: (made) => (filling = made) });
    } finally {
      filling = null;
      await measure();
    }
  }

  function draw(): void {
    show(byId("notices"), ...notices(troubles, dismiss));
    show(byId("instruments"), ...instruments(gauges, instrumentActions));
    show(byId("ways-out"), ...waysOut(instrumentActions));
    if (seen === null) return;
    const boardNow = board(seen, {
      send: (trigger, exe) => {
        const item = document.querySelector<HTMLSelectElement>("#shop")?.value ?? "";
        send(
          partsOf(look.selected ?? "")[trigger.part],
          newEvent({ kind: trigger.kind, data: trigger.data(exe, item) }),
        );
      },
      newOrder,
    });
    show(byId("board"), ...boardNow);
    show(byId("timeline"), ...timeline(seen));
    show(byId("orders"), ...orders(seen, look, filling, ordersActions));
    show(
      byId("post"),
      ...post(seen, look.relay, {
        relay: (on) => {
          lookAt({ relay: on });
          relay.kick("local");
        },
        deliver: (row) => act(() => runtime.deliver(row)),
        startChild: (row) => act(() => runtime.startChild(row)),
      }),
    );
  }
  const dismiss = (notice: Notice): void => {
    troubles = troubles.filter((one) => one !== notice);
    draw();
  };
  const ordersActions = {
    newOrder,
    fill: () => act(makeMany),
    filter: (status: Status | null) => lookAt({ status, cursors: [null] }),
    turn: (page: "next" | "previous" | "first") => {
      const { cursors } = look;
      if (page === "first") lookAt({ cursors: [null] });
      else lookAt({ cursors: page === "next" ? [...cursors, seen?.nextCursor ?? null] : cursors.slice(0, -1) });
    },
    select: (id: string) => lookAt({ selected: id }),
  };
  const instrumentActions = {
    durability: (choice: Gauges["durability"]) => {
      chooseDurability(choice);
      location.reload();
    },
    persist: () =>
      act(async () => {
        await requestPersistence();
        await measure();
      }),
    download: () => act(async () => saveAs("orders.db", await store.exportDatabase())),
    takeOver: () => offline.takeOver(),
  };
  const offline = workOffline((state) => {
    gauges.offline = state;
    draw();
  });

  store.subscribe(({ origin }) => {
    gauges.news = { origin, at: now() };
    void refresh();
    relay.kick(origin);
  });
  // Back from a sleep, from the background, from the back button: others went on, and timers may be due.
  const back = (): void => {
    if (document.visibilityState === "hidden") return;
    void refresh();
    clock.look();
    relay.kick("local");
  };
  document.addEventListener("visibilitychange", back);
  document.addEventListener("resume", back);
  window.addEventListener("pageshow", back);
  window.addEventListener("online", back);
  setInterval(() => {
    if (document.visibilityState === "hidden") return;
    for (const element of document.querySelectorAll<HTMLElement>("[data-fire-at]")) {
      const text = left(Number(element.dataset["fireAt"]) - now());
      if (element.textContent !== text) element.textContent = text;
    }
  }, TICK_MS);

  void refresh();
  relay.kick("local");
  void measure();
}
