// What went wrong, in the user's words, and what to do. Nothing the user stored is printed.
import { PerdureError, type ErrorCode } from "perdure";

export interface Advice {
  readonly title: string;
  readonly todo: string;
  /** The button beside it. */
  readonly remedy: "try again" | "reload" | "none";
}

const BY_CODE: Partial<Record<ErrorCode, Advice>> = {
  quota: {
    title: "The browser gives this page no more space",
    todo: "Nothing was lost: the last change was undone. Free some space, or ask for persistent storage, then try again.",
    remedy: "try again",
  },
  "no-space": {
    title: "The disk is full",
    todo: "Nothing was lost: the last change was undone. Free some space, then try again.",
    remedy: "try again",
  },
  "flush-failed": {
    title: "The browser could not write",
    todo: "Nothing was lost: the last change was undone. Try again.",
    remedy: "try again",
  },
  "store-busy": {
    title: "Another tab is writing and does not come to an end",
    todo: "Nothing was written. Close other tabs of this page if one of them hangs, then try again.",
    remedy: "try again",
  },
  fenced: { title: "Another tab was first", todo: "Nothing was written. Try again.", remedy: "try again" },
  "open-timeout": {
    title: "The browser does not open its storage",
    todo: "Close other tabs of this page, or restart the browser, then try again.",
    remedy: "try again",
  },
  "storage-denied": {
    title: "The browser refuses storage to this page",
    todo: "Private windows and blocked site data do that. Allow site data for this page, or use an ordinary window.",
    remedy: "reload",
  },
  "storage-replaced": {
    title: "The stored database was replaced",
    todo: "Another tab, or somebody clearing site data, took it away. Reload to open what is there now.",
    remedy: "reload",
  },
  "storage-missing": {
    title: "The stored database is gone",
    todo: "Site data was cleared while the page was open. Reload to begin anew.",
    remedy: "reload",
  },
  "image-corrupt": {
    title: "The stored database is damaged",
    todo: "It was left as it is. Reload; if that does not help, clear this page's site data to begin anew.",
    remedy: "reload",
  },
  "newer-format": {
    title: "The database was written by a newer version of this page",
    todo: "Close all tabs of this page and open it again while online, to get the newer version.",
    remedy: "reload",
  },
  unsupported: {
    title: "This browser cannot keep the database",
    todo: "Open the page over https or on localhost, in a current browser.",
    remedy: "reload",
  },
  "engine-failed": {
    title: "The SQL engine did not start",
    todo: "WebAssembly may be switched off, or memory is short. Close other tabs, then reload.",
    remedy: "reload",
  },
  "store-closed": { title: "The store was closed", todo: "Reload to open it again.", remedy: "reload" },
};

export function adviceOn(error: unknown): Advice {
  const known = error instanceof PerdureError ? BY_CODE[error.code] : undefined;
  if (known !== undefined) return known;
  const said = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return {
    title: "Something went wrong",
    todo: `${said}. What was committed is safe. Reload to go on.`,
    remedy: "reload",
  };
}

/** The code, for those who look it up in the README. */
export const codeOfError = (error: unknown): string => (error instanceof PerdureError ? error.code : "unknown");
