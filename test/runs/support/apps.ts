// Apps with workflows. Steps tell the witness what they or their run hold; a test that only submits has no
// connection to it.

import { setTimeout as sleep } from "node:timers/promises";
import type { App, AppDefinition, Reference, TaskContext } from "../../../src/index.ts";
import { defineApp, task, workflow } from "../../../src/index.ts";
import { listApp, lossyListApp } from "../../fan-out/support/list-app.ts";
import type { Visitor } from "../../support/witness.ts";

/** The input of a step: what it counts as, and what to do between entering and leaving. */
export interface Errand {
  readonly counts: Readonly<Record<string, number>>;
  readonly ms?: number;
  readonly hold?: boolean;
}

/** A task that enters, does its errand and leaves. Its queue is "default". */
function errandTask(id: string, visitor: Visitor | undefined) {
  return task({
    id,
    run: async ({ counts, ms, hold }: Errand, { id: unit, fence }: TaskContext) => {
      if (!visitor) throw new Error("this process only submits");
      await visitor.visit({ id: unit, queue: id, pools: counts, epoch: fence }, async () => {
        if (hold) await visitor.hold(unit);
        if (ms) await sleep(ms);
      });
      return visitor.worker;
    },
  });
}

type Make = (visitor: Visitor | undefined) => AppDefinition;

/** One step per run. Tags come with the submission. */
const queue: Make = (visitor) => {
  const work = errandTask("work", visitor);
  const job = workflow({
    id: "job",
    steps: (s, input: Reference<Errand>) => s.step("work", work, input),
  });
  return {
    tasks: [work],
    workflows: [job],
    runs: {
      max: 10,
      tags: [
        { key: "tenant", perValue: true, limit: 1 },
        { key: "env", value: "prod", limit: 2 },
      ],
    },
  };
};

/** Fifty steps in one run, each with one to three slots of one pool or of two. */
const weighted: Make = (visitor) => {
  const work = errandTask("work", visitor);
  const asks = [{ gpu: 1 }, { disk: 1 }, { gpu: 2 }, { gpu: 1, disk: 2 }, { disk: 3 }, { gpu: 3, disk: 1 }];
  const wide = workflow({
    id: "wide",
    steps: (s) => {
      for (let index = 0; index < 50; index += 1) {
        const pools = asks[index % asks.length] as Readonly<Record<string, number>>;
        s.step(`s${index}`, work, { counts: pools, ms: 5 + (index % 7), hold: true }, { pools });
      }
    },
  });
  return { tasks: [work], workflows: [wide], pools: { gpu: { limit: 5 }, disk: { limit: 4 } } };
};

/** A step that holds the only slot of a pool whose lease is far shorter than its session's. */
const leased: Make = (visitor) => {
  const work = errandTask("work", visitor);
  const hold = workflow({
    id: "hold",
    steps: (s, input: Reference<Errand>) =>
      s.step("hold", work, input, { pools: { lic: 1 }, retry: { attempts: 3, delay: "0ms" } }),
  });
  return {
    tasks: [work],
    workflows: [hold],
    pools: { lic: { limit: 1, lease: "2s" } },
    session: { lease: "60s", heartbeat: "5s" },
  };
};

const appOf =
  (make: Make) =>
  (visitor?: Visitor): App =>
    defineApp(make(visitor));

export const RUN_APPS = {
  queue: appOf(queue),
  weighted: appOf(weighted),
  leased: appOf(leased),
  list: appOf(listApp),
  lossyList: appOf(lossyListApp),
} as const;
