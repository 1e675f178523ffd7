/** For those who test against Sluice. The suite for stores is `sluice/testing/store-suite`: it needs vitest. */
export { FakeClock, sqliteTimeOf } from "./clock.ts";
export { FakeEnv } from "./fake-env.ts";
