// Registers the service worker (sw.ts) and tells how far it is.

export type OfflineState = "no" | "getting ready" | "ready" | "new version";

export interface Offline {
  /** Switches to the new version: all tabs of the page reload. */
  takeOver(): void;
}

/** Never rejects: a page without its service worker works while there is a network. */
export function workOffline(onState: (state: OfflineState) => void): Offline {
  let waiting: ServiceWorker | null = null;
  const container = "serviceWorker" in navigator ? navigator.serviceWorker : null;
  if (container === null) {
    onState("no");
    return { takeOver: () => {} };
  }
  let hadOne = container.controller !== null;
  container.addEventListener("controllerchange", () => {
    // The first one takes over a page that runs; only a second one brings other files.
    if (hadOne) location.reload();
    hadOne = true;
  });
  async function register(from: ServiceWorkerContainer): Promise<void> {
    onState("getting ready");
    const registration = await from.register("./sw.js");
    const lookAtWaiting = (): void => {
      ({ waiting } = registration);
      if (waiting !== null && registration.active !== null) onState("new version");
    };
    registration.addEventListener("updatefound", () => {
      registration.installing?.addEventListener("statechange", lookAtWaiting);
    });
    await from.ready;
    onState("ready");
    lookAtWaiting();
  }
  register(container).catch(() => onState("no"));
  return { takeOver: () => waiting?.postMessage("take over") };
}
