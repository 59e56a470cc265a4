// A contender's own worker: answers what the window asks.
import { handle } from "./host.js";

addEventListener("message", async ({ data: { id, message } }) => {
  try {
    postMessage({ id, result: await handle(message) });
  } catch (error) {
    postMessage({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
