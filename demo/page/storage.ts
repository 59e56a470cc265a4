// What the browser gives the page to store in, and asking it not to take that away. Never rejects: a browser that does
// not say is one more thing to show.

export interface Space {
  readonly storage: { readonly usage: number; readonly quota: number } | null;
  readonly persisted: boolean | null;
}

/** Not in every browser, whatever its type says. */
const manager = (): StorageManager | undefined => ("storage" in navigator ? navigator.storage : undefined);

export async function lookAtSpace(): Promise<Space> {
  try {
    const [said, persisted] = await Promise.all([manager()?.estimate?.(), manager()?.persisted?.()]);
    const { usage, quota } = said ?? {};
    const storage = usage === undefined || quota === undefined ? null : { usage, quota };
    return { storage, persisted: persisted ?? null };
  } catch {
    return { storage: null, persisted: null };
  }
}

/** Some browsers ask the user, so only after a click. */
export async function askToKeep(): Promise<void> {
  try {
    await manager()?.persist?.();
  } catch {
    // Then it stays as it was, and the page says so.
  }
}

const DURABILITY = "perdure demo: durability";

export function chosenDurability(): "strict" | "relaxed" {
  try {
    return localStorage.getItem(DURABILITY) === "relaxed" ? "relaxed" : "strict";
  } catch {
    return "strict";
  }
}

export function chooseDurability(choice: "strict" | "relaxed"): void {
  try {
    localStorage.setItem(DURABILITY, choice);
  } catch {
    // Then it is strict again.
  }
}

/** Hands a file to the user. */
export function saveAs(name: string, bytes: Uint8Array): void {
  const url = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type: "application/vnd.sqlite3" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download has begun by then, whatever the browser.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
