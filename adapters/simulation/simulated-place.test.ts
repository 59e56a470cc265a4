// What stores and crash tests rely on, asked of the adapter itself (L2).
import { expect, test } from "vitest";
import type { PageDelta } from "../../src/port.ts";
import { openSimulated, openSimulatedAsync, SimulatedDisk } from "./index.ts";

const PAGE_BYTES = 4096;

/** A database of one page, which says how many transactions there were. */
function transaction(n: number): PageDelta {
  const page = new Uint8Array(PAGE_BYTES);
  page.set(new TextEncoder().encode("SQLite format 3\0"));
  // The size of a page, the format, fractions that are always these; the counter and the pages it is good for.
  page.set([0x10, 0, 1, 1, 0, 64, 32, 32], 16);
  const view = new DataView(page.buffer);
  for (const at of [24, 92]) view.setUint32(at, n);
  view.setUint32(28, 1);
  return { pageSize: PAGE_BYTES, pageCount: 1, pages: new Map([[1, page]]) };
}

test.each([openSimulated, openSimulatedAsync])(
  "L2 a log that could not start over is put right before the next append, though the lease is the same (%o)",
  async (open) => {
    const disk = new SimulatedDisk();
    const adapter = await open(disk, "a.db", { checkpointFrames: 2 });
    let { position } = await adapter.load();
    const release = await adapter.lock();
    let starts = 0;
    disk.before = ({ kind, name, bytes }) => {
      // The header of the log, when it starts over for the first time.
      if (kind === "write" && name.endsWith("-wal") && bytes === 32 && starts++ === 1) return { error: "EIO" };
    };
    for (let n = 1; n <= 4; n++) {
      const delta = transaction(n);
      position = await adapter.append(delta, position);
      const page = delta.pages.get(1)!;
      await adapter.checkpoint({ pageSize: PAGE_BYTES, pageCount: 1, page: () => page });
      const left = await (await open(disk.crash("lost"), "a.db")).load();
      expect(new DataView(left.chunks[0]!.buffer).getUint32(24), `after transaction ${n}`).toBe(n);
    }
    expect(starts).toBeGreaterThan(2);
    release();
  },
);
