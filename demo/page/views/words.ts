// Times, sizes and names as people read them.

/** What is left of a time, in seconds: "0:27", "3:05:00", "29 d 23:59:30"; a time that has passed is "now". */
export function left(seconds: number): string {
  if (seconds <= 0) return "now";
  const all = Math.ceil(seconds);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const days = Math.floor(all / 86400);
  const hours = Math.floor((all % 86400) / 3600);
  const rest = `${two((all % 3600) / 60)}:${two(all % 60)}`;
  if (days > 0) return `${days} d ${two(hours)}:${rest}`;
  return hours > 0 ? `${hours}:${rest}` : rest.replace(/^0/, "");
}

const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const date = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** Both take seconds since the epoch. */
export const timeOf = (at: number): string => clock.format(at * 1000);
export const dateOf = (at: number): string => date.format(at * 1000);

export function size(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export const milliseconds = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;

/** "Order.Pay.Waiting" as "Pay › Waiting": seen from a state around it. */
export function placeOf(path: string | null, from = "Order"): string {
  const shown = path?.startsWith(`${from}.`) ? path.slice(from.length + 1) : (path ?? "");
  return shown.replaceAll(".", " › ").replace("OnTheRoad", "On the road");
}

/** "nobody_home" as "nobody home". */
export const wordOf = (kind: string): string => kind.replaceAll("_", " ");
