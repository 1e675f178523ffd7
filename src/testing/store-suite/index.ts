/**
 * One suite for all stores: it states what each of them promises. A store is tested on the parts that its
 * capabilities name. The other parts are listed as skipped, with what they need. The suite runs in vitest.
 */
import { afterEach, describe, expect, test } from "vitest";
import type { AnyStore, Capabilities } from "../../store/capabilities.ts";
import { ALL_PORTS, missingVerbs } from "../../store/capabilities.ts";
import { FakeClock } from "../clock.ts";
import type { StoreSuiteOptions } from "./options.ts";
import type { Opened } from "./parts.ts";
import { PARTS } from "./parts.ts";

export { FakeClock } from "../clock.ts";
export type { StoreSuiteOptions } from "./options.ts";

/**
 * `open` returns an empty store with its schema. The store must use the given clock as each of its clocks.
 */
export function describeStore(
  name: string,
  open: (clock: FakeClock) => Promise<AnyStore>,
  options: StoreSuiteOptions = {},
): void {
  const capabilities = wholeStore(options.capabilities);
  describe(name, () => {
    const opened: AnyStore[] = [];
    const fresh = async (): Promise<Opened<AnyStore>> => {
      const clock = new FakeClock();
      const store = await open(clock);
      opened.push(store);
      return { store, clock };
    };
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });
    test("says of itself what it is held to here, and has every verb of its ports", async () => {
      const { store } = await fresh();
      const { ports, parking, callerTransaction } = store.capabilities;
      expect({ ports: [...ports].sort(), parking, callerTransaction }).toEqual({
        ports: [...capabilities.ports].sort(),
        parking: capabilities.parking,
        callerTransaction: capabilities.callerTransaction,
      });
      expect(ports.flatMap((port) => missingVerbs(store, port))).toEqual([]);
    });
    test("can be closed twice at once, and again afterwards", async () => {
      const { store } = await fresh();
      await Promise.all([store.close(), store.close()]);
      await store.close();
    });
    for (const { title, leftOut, tests } of PARTS) {
      const lacking = leftOut(capabilities);
      describe(title, () => {
        if (lacking.length === 0) tests(fresh, options);
        else test.skip(`is left out: it needs ${lacking.join(", ")}`, () => {});
      });
    }
  });
}

const wholeStore = (said: Partial<Capabilities> = {}): Capabilities => ({
  ports: ALL_PORTS,
  durable: true,
  shared: true,
  passesAtOnce: false,
  callerTransaction: false,
  parking: true,
  ...said,
});
