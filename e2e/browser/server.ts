// The server of one test worker: the built pages, under the content security policy that is asked for (`?policy=`), and a
// way for them to reach the test while they run, `POST /tell`. On loopback, on a port of its own, so on an origin of its own.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

export interface Server {
  readonly url: string;
  /** Called with what pages tell; the page's request is answered when the listener has returned. */
  onTell(topic: string, listener: (what: unknown) => void): () => void;
  /** Stops answering, as when the network is gone. The origin stays the server's, for `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** Serves the folders, in their order. */
export async function serve(...folders: string[]): Promise<Server> {
  const listeners = new Map<string, Set<(what: unknown) => void>>();
  const find = async (path: string): Promise<string | null> => {
    const inside = normalize(decodeURIComponent(path)).replace(/\/$/, "/index.html");
    for (const folder of folders) {
      const file = join(folder, inside);
      if (
        await stat(file).then(
          (one) => one.isFile(),
          () => false,
        )
      )
        return file;
    }
    return null;
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    const answer = async (): Promise<void> => {
      if (request.method === "POST" && pathname === "/tell") {
        const what = await bodyOf(request);
        for (const listener of listeners.get(searchParams.get("topic") ?? "") ?? []) listener(what);
        response.writeHead(204).end();
        return;
      }
      const file = await find(pathname);
      if (file === null) {
        response.writeHead(404).end();
        return;
      }
      const policy = searchParams.get("policy");
      response.writeHead(200, {
        ...(policy === null ? {} : { "content-security-policy": policy }),
        "content-type": TYPES[extname(file)] ?? "application/octet-stream",
        // Pages are built anew for every run. Not "no-store": such a page is never kept to go back to.
        "cache-control": "no-cache",
        "service-worker-allowed": "/",
      });
      createReadStream(file).pipe(response);
    };
    // A page that is killed while it asks leaves half a request.
    answer().catch(() => response.destroy());
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once("error", reject).listen(port, "127.0.0.1", resolve);
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    // By this name a page is a secure context, which Web Locks and the Origin Private File System need.
    url: `http://localhost:${port}`,
    onTell(topic, listener) {
      const all = listeners.get(topic) ?? new Set();
      listeners.set(topic, all.add(listener));
      return () => all.delete(listener);
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    start: () => listen(port),
  };
}
