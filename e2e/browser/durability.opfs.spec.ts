// Durability (L2) on the origin private file system.
import { endingTests, killTests } from "./durability.ts";

killTests("OPFS", { on: "OPFS", name: "kill" });
endingTests("OPFS");
