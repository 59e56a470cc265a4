// What the user chose for this browser, and files for the user to keep.

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
