// Tests in which made-up folders count as the browser's own, and time is made up as well.
import { onTestFinished, vi } from "vitest";

export function asInBrowsers(): void {
  const Handle = function () {};
  Object.defineProperty(Handle, Symbol.hasInstance, { value: () => true });
  vi.stubGlobal("FileSystemDirectoryHandle", Handle);
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });
}
