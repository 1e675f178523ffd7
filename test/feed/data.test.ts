// The data of every change is what the reference of events says about its kind.

import { expect, test } from "vitest";
import type { ChangeView } from "../../src/api/feed.ts";
import type { EventMeaning } from "../../src/core/event.ts";
import { EVENTS, FEED_EVENTS } from "../../src/core/event.ts";
import { RUN_EVENTS } from "../../src/core/run/event.ts";
import type { Sluice } from "../../src/index.ts";
import { task, workflow } from "../../src/index.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";
import { working } from "../runs/support/world.ts";

const DOCUMENTED: Readonly<Record<string, EventMeaning>> = { ...EVENTS, ...RUN_EVENTS, ...FEED_EVENTS };

/** Kinds with fields that only some of their changes have. */
const VARIES = /Failed$|Retried$|Logged$|Returned$|^Step(Ready|Succeeded|Cancelled)$/;

async function busyOn(place: Place): Promise<Sluice> {
  const say = task({ id: "say", run: (text: string, { log }) => log(text, { loud: true }) });
  const fail = task({
    id: "fail",
    retry: { attempts: 2, delay: "1ms" },
    run: () => {
      throw new TypeError("no");
    },
  });
  const all = workflow({
    id: "all",
    steps: (s) => {
      const first = s.step("first", say, "a", { pools: { lic: 1 } });
      const list = s.each("list", ["b", "c"], say, { after: [first] });
      const bad = s.step("bad", fail, undefined, { after: [list] });
      s.step("never", say, "d", { after: [bad] });
    },
  });
  return working(place, { tasks: [say, fail], workflows: [all], pools: { lic: { limit: 1 } } });
}

/** Collects all changes until this kind is told. */
async function until(feed: AsyncIterable<ChangeView>, last: string): Promise<ChangeView[]> {
  const heard: ChangeView[] = [];
  for await (const change of feed) {
    heard.push(change);
    if (change.kind === last) break;
  }
  return heard;
}

const keysOf = (data: object): string[] => Object.keys(data).sort();

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("a change has the data that is documented for its kind, and nothing else", async () => {
    const sluice = await busyOn(place);
    const feed = sluice.changes();
    await feed.begin();
    await sluice.limits.set("runs", 0, "ann");
    const waiting = await sluice.submit("all", undefined, { priority: 3 });
    await sluice.queue.priority(waiting.id, 7, "ann");
    const { id } = await sluice.submit("all", undefined);
    await sluice.runs.cancel(id, "ann");
    await sluice.limits.set("runs", 5, "ann");
    const heard = await until(feed, "RunFailed");

    for (const { kind, data } of heard) {
      const documented = keysOf(DOCUMENTED[kind]?.data ?? { unknown: kind });
      if (VARIES.test(kind)) expect(documented, kind).toEqual(expect.arrayContaining(keysOf(data)));
      else expect([kind, ...keysOf(data)]).toEqual([kind, ...documented]);
    }
    const kinds = new Set(heard.map(({ kind }) => kind));
    for (const kind of [
      "RunQueued",
      "RunCancelled",
      "StepLogged",
      "StepRetried",
      "StepSkipped",
      "LimitChanged",
    ])
      expect(kinds).toContain(kind);
    const told = heard.filter(({ kind }) => kind === "RunDequeued").map(({ data }) => data);
    expect(told).toEqual([{ priority: 7 }]);
    const first = heard.filter(({ kind, step }) => /Slot|Started/.test(kind) && step === "first");
    expect(first.map(({ kind, data }) => [kind, data])).toEqual([
      ["StepSlotClaimed", { pools: "lic" }],
      ["StepStarted", { attempt: 1 }],
    ]);
    // A reader that wants nothing else is told of it, and one that resumes between the two gets both.
    const again = sluice.changes({ after: first[0]?.cursor as string, kinds: ["StepSlotClaimed"] });
    expect((await until(again, "StepSlotClaimed")).map(({ step }) => step)).toEqual(["first"]);
  });
});
