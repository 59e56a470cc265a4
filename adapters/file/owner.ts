// Who holds a lease, and whether that process is still alive. Where the system will not say (another host, another
// container, no permission), the owner counts as alive: waiting is safe, robbing is not.
import * as fs from "node:fs";
import * as os from "node:os";
import { systemCode } from "../../src/errors.ts";
import { canLock, isKeptLocked } from "./flock.ts";

export interface Owner {
  /** Different for every store that was ever opened. */
  readonly token: string;
  readonly pid: number;
  readonly host: string;
  /** The run of the kernel, and the pid namespace (containers have their own): "" where unknown. */
  readonly boot: string;
  readonly pidNamespace: string;
  /** When the process started, in the kernel's ticks: a pid may be used again. "" where unknown. */
  readonly started: string;
  /** Whether its owner file is locked by the kernel while it lives. */
  readonly locked: boolean;
}

/** The owner that a store opened now would be. */
export function thisProcess(): Owner {
  return {
    token: crypto.randomUUID().replaceAll("-", ""),
    pid: process.pid,
    host: attempt(() => os.hostname()),
    boot: attempt(() => fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
    pidNamespace: attempt(() => fs.readlinkSync("/proc/self/ns/pid")),
    started: startOf("self")?.started ?? "",
    locked: canLock,
  };
}

/** Tokens of stores of this thread that were closed, but could not take away what names them. */
const closedHere = new Set<string>();

/** Has an owner count as gone on this thread, though its process goes on. */
export function noteClosed({ token }: Owner): void {
  closedHere.add(token);
}

/** Whether the owner that `file` names is certainly gone. */
export function isDead(owner: Owner, file: string): boolean {
  // Empty: the power went before the name was on the disk, so whoever wrote it is gone too.
  if (owner.token === "" || closedHere.has(owner.token)) return true;
  if (owner.locked) {
    const isLocked = isKeptLocked(file);
    if (isLocked !== null) return !isLocked;
  }
  const here = thisMachine();
  if (owner.boot !== "" && here.boot !== "" && owner.boot !== here.boot) return owner.host === here.host;
  if (owner.boot !== here.boot || owner.pidNamespace !== here.pidNamespace || owner.host !== here.host) return false;
  const running = startOf(String(owner.pid));
  if (running !== null) return running.zombie || (owner.started !== "" && running.started !== owner.started);
  try {
    process.kill(owner.pid, 0);
    return false;
  } catch (error) {
    return systemCode(error) === "ESRCH";
  }
}

/** For messages. */
export function describe({ host, pid }: Owner): string {
  return `process ${pid}${host === "" ? "" : ` on ${host}`}`;
}

const NOBODY: Owner = { token: "", pid: 0, host: "", boot: "", pidNamespace: "", started: "", locked: false };

/** Whether it can be a token. Files are named by it, and anybody may have written what is read here (L7). */
export const isToken = (text: string): boolean => /^[\w-]{1,32}$/.test(text);

/** The owner that a lock file names; one with an empty token when the file names nobody. */
export function parseOwner(text: string): Owner {
  try {
    const owner = { ...NOBODY, ...(JSON.parse(text) as object) };
    const isOne = Object.entries(NOBODY).every(([key, value]) => typeof owner[key as keyof Owner] === typeof value);
    return isOne && isToken(owner.token) ? owner : NOBODY;
  } catch {
    return NOBODY;
  }
}

let machine: Owner | null = null;

function thisMachine(): Owner {
  machine ??= thisProcess();
  return machine;
}

/** From /proc: when a process started, and whether it only waits to be buried. Null where /proc cannot tell. */
function startOf(pid: string): { readonly started: string; readonly zombie: boolean } | null {
  const stat = attempt(() => fs.readFileSync(`/proc/${pid}/stat`, "utf8"));
  // The name before the last parenthesis may hold spaces. Then: state (field 3) … start time (field 22).
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const started = fields[19];
  if (stat === "" || started === undefined) return null;
  // A zombie that still has threads may still be writing.
  const zombie = fields[0] === "Z" && attempt(() => String(fs.readdirSync(`/proc/${pid}/task`).length)) === "1";
  return { started, zombie };
}

/** Whatever is forbidden here is unknown. */
function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
