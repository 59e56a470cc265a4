import { AsyncSqliteStore } from "perdure";
import { indexedDbAdapter } from "perdure/indexeddb";

export const store = await AsyncSqliteStore.create(indexedDbAdapter("orders"));
