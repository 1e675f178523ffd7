// The main module of an engine in a process of its own. It may be told to die at a point of the protocol.

import { openStore } from "../../../src/api/open-store.ts";
import { connect } from "../../../src/index.ts";
import { Visitor } from "../../support/witness.ts";
import type { StormEngine } from "./storm-app.ts";
import { stormApp } from "./storm-app.ts";

/** Before or after the n-th call of a verb. The verbs of the store stand between those of the sync database. */
export interface Death {
  readonly verb: "intend" | "openShared" | "closeShared" | "forgetShared" | "sharing";
  readonly when: "before" | "after";
  readonly n: number;
}

export interface EngineOrder extends StormEngine {
  readonly store: string;
  readonly witnessPort: number;
  readonly death: Death | null;
}

function mortal<T extends object>(target: T, { verb, when, n }: Death): T {
  let calls = 0;
  return new Proxy(target, {
    get: (of, name) => {
      const found: unknown = Reflect.get(of, name);
      if (typeof found !== "function") return found;
      if (name !== verb) return found.bind(of);
      return async (...given: unknown[]) => {
        calls += 1;
        if (calls === n && when === "before") process.kill(process.pid, "SIGKILL");
        const answer: unknown = await found.apply(of, given);
        if (calls === n && when === "after") process.kill(process.pid, "SIGKILL");
        return answer;
      };
    },
  });
}

const order = JSON.parse(process.argv[2] as string) as EngineOrder;
const visitor = await Visitor.connect(order.witnessPort, order.name);
const opened = await openStore(order.store);
const store = order.death ? mortal(opened, order.death) : opened;
process.once("disconnect", () => process.exit());
const sluice = await connect({ store, app: stormApp(order, visitor) });
await sluice.worker({
  name: order.name,
  slots: 8,
  poll: "150ms",
  pollJitter: "0ms",
  watch: (event) => {
    if (event.kind === "error")
      process.send?.({ error: String((event.error as Error)?.stack ?? event.error) });
  },
});
process.send?.({ working: true });
