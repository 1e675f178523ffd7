/** For those who test against Sluice, or write a store of their own. `describeStore` needs vitest. */
export { FakeClock, sqliteTimeOf } from "./clock.ts";
export { FakeEnv } from "./fake-env.ts";
export type { StoreSuiteOptions } from "./store-suite/index.ts";
export { describeStore } from "./store-suite/index.ts";
