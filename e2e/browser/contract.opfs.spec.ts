// The contract suite (L8) on the origin private file system, in the engines that have one.
import { contractTests } from "./contract.ts";
import { TARGETS } from "./pages/targets.ts";

contractTests(TARGETS.filter(({ on }) => on === "OPFS"));
