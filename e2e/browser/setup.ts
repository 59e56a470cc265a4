// What Playwright calls before all tests. It wants a default export.
import { buildPages } from "./build.ts";

export default buildPages;
