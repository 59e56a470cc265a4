// BroadcastChannel between the tabs of a test's site.
import type { Site, Tab } from "./site.ts";

export class FakeChannel extends EventTarget {
  readonly #site: Site;
  readonly #tab: Tab;
  readonly #name: string;
  #closed = false;

  constructor(site: Site, tab: Tab, name: string) {
    super();
    this.#site = site;
    this.#tab = tab;
    this.#name = name;
    site.channels.add(this);
  }

  postMessage(message: unknown): void {
    if (this.#closed) throw new DOMException("the channel is closed", "InvalidStateError");
    for (const other of this.#site.channels) {
      if (other === this || other.#name !== this.#name) continue;
      const event = new MessageEvent("message", { data: structuredClone(message) });
      setImmediate(() => other.#tab.run(() => void (other.#closed || other.dispatchEvent(event))));
    }
  }

  close(): void {
    this.#closed = true;
    this.#site.channels.delete(this);
  }
}
