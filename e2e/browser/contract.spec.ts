// The contract suite (L8) on the adapters that all engines have.
import { contractTests } from "./contract.ts";
import { TARGETS } from "./pages/targets.ts";

contractTests(TARGETS.filter(({ on }) => on !== "OPFS"));
