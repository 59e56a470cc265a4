// Durability (L2) on IndexedDB.
import { endingTests, killTests } from "./durability.ts";

killTests("IndexedDB", { on: "IndexedDB", name: "kill" });
killTests("IndexedDB, folding all the time", { on: "IndexedDB", name: "kill", foldBytes: 4 * 1024 });
endingTests("IndexedDB");
