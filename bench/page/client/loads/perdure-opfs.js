import { SqliteStore } from "perdure";
import { openOpfs } from "perdure/opfs";

export const store = await SqliteStore.create(await openOpfs("orders"));
