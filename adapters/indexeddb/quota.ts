// What the browser says about the site's space. Asked by the app: only that knows when its user should be asked.

/** The site's space, in bytes. The browser rounds both. */
export interface StorageEstimate {
  readonly usageBytes: number;
  readonly quotaBytes: number;
  /** Whether the browser promised not to evict it. */
  readonly isPersistent: boolean;
}

/**
 * Asks the browser not to evict the site's data when space runs short. Some browsers ask the user. False when it does not
 * promise, or cannot be asked. Never rejects.
 */
export async function requestPersistence(): Promise<boolean> {
  try {
    return await navigator.storage.persist();
  } catch {
    return false;
  }
}

/** How much space the site uses and may use; null when the browser does not tell. Never rejects. */
export async function estimate(): Promise<StorageEstimate | null> {
  try {
    const { storage } = navigator;
    const [{ usage, quota }, isPersistent] = await Promise.all([storage.estimate(), storage.persisted()]);
    return usage === undefined || quota === undefined ? null : { usageBytes: usage, quotaBytes: quota, isPersistent };
  } catch {
    return null;
  }
}
