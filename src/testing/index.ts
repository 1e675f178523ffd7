/**
 * For tests of code that uses Sluice. The suite for stores is `sluice/testing/store-suite`, which needs
 * vitest.
 */
export { FakeClock, sqliteTimeOf } from "./clock.ts";
export { FakeEnv } from "./fake-env.ts";
