// What a browser must do for the tests that run in all engines. Knows no engine.

/** A tab that shows a test page. */
export interface Tab {
  /** Runs a function in the page, which finds `lab` there and nothing of the test's; its argument and result are JSON. */
  evaluate<R>(run: () => R): Promise<Awaited<R>>;
  evaluate<R, A>(run: (argument: A) => R, argument: A): Promise<Awaited<R>>;
  reload(): Promise<void>;
  goto(url: string): Promise<void>;
  /** As a user closes it. */
  close(): Promise<void>;
}

/** A running browser. */
export interface RunningBrowser {
  /** Opens a page of the test server in a new tab. Resolves when its scripts have run. */
  open(url: string): Promise<Tab>;
  /** Kills every process of the browser, with SIGKILL. */
  kill(): Promise<void>;
  close(): Promise<void>;
  /** What is to be seen, as PNG, for reports; null where the test runner takes its own. */
  picture(): Promise<Buffer | null>;
}

/** Starts a browser on a profile: a folder, which outlives the browser. */
export type Launch = (profile: string) => Promise<RunningBrowser>;
