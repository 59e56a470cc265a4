// The few commands of the WebDriver protocol that are used (https://www.w3.org/TR/webdriver2/), over HTTP.

/** A session of a browser under WebDriver. Its commands run one after another. */
export class WebDriverSession {
  readonly #base: string;
  readonly #id: string;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(base: string, id: string) {
    this.#base = base;
    this.#id = id;
  }

  static async start(base: string, capabilities: object): Promise<WebDriverSession> {
    const body = { capabilities: { alwaysMatch: capabilities } };
    const { sessionId } = (await command(base, "POST", "/session", body)) as { sessionId: string };
    return new WebDriverSession(base, sessionId);
  }

  /** Runs commands in one window, with no other command between them. */
  within<T>(window: string, run: () => Promise<T>): Promise<T> {
    return this.alone(async () => {
      await this.send("POST", "/window", { handle: window });
      return run();
    });
  }

  /** Runs commands with no other command between them. */
  alone<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#last.then(run);
    this.#last = result.catch(() => {});
    return result;
  }

  send(method: "GET" | "POST" | "DELETE", path: string, body?: object): Promise<unknown> {
    return command(this.#base, method, `/session/${this.#id}${path}`, body);
  }
}

async function command(base: string, method: string, path: string, body?: object): Promise<unknown> {
  // Of a post the protocol wants a body, be it empty.
  const content = body ?? (method === "POST" ? {} : undefined);
  const response = await fetch(base + path, { method, ...(content && { body: JSON.stringify(content) }) });
  const { value } = (await response.json()) as { value: unknown };
  if (!response.ok) {
    const { error, message } = value as { error: string; message: string };
    throw new Error(`WebDriver ${method} ${path}: ${error}: ${message}`);
  }
  return value;
}
