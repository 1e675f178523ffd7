import { describe as about, expect, it } from "vitest";
import { describe, waitFor } from "./describe.ts";
import { gateTitle } from "./kind.ts";
import type { Holder, Reason } from "./reason.ts";
import { remedies, remedy } from "./remedy.ts";

const NOW = Date.UTC(2026, 10, 16, 2, 55, 48);
const say = (reason: Reason) => describe(reason, { now: NOW });
const full = (more: Partial<Extract<Reason, { kind: "full" }>> = {}): Reason => ({
  kind: "full",
  gate: "queue:stripe",
  limit: 3,
  held: 3,
  asked: 1,
  ahead: 0,
  ...more,
});
const holder = (unit: string, seconds: number, slots = 1): Holder => ({
  unit,
  name: "charge",
  slots,
  session: "s1",
  since: NOW - seconds * 1000 - 7,
});

about("a full gate", () => {
  it("says what is held, by whom and for how long, and how many wait ahead", () => {
    const holders = [holder("01k1", 12), holder("01k2", 75, 2)];
    expect(say(full({ holders, ahead: 7 }))).toBe(
      'queue "stripe" is full: 3 of 3 slots held (by 01k1 charge for 12s, 01k2 charge with 2 slots for 1m15s), 7 waiting ahead',
    );
  });

  it("leaves out what nobody knows and what is not so", () => {
    expect(say(full())).toBe('queue "stripe" is full: 3 of 3 slots held');
  });

  it("says of a holder whose code should have ended since when and why", () => {
    const stopping = { since: holder("01k1", 3).since, because: "cancelled" };
    const holders = [{ ...holder("01k1", 12), stopping }, holder("01k2", 75, 2)];
    expect(say(full({ holders }))).toContain(
      "(by 01k1 charge, stopping for 3s (cancelled), 01k2 charge with 2 slots for 1m15s)",
    );
  });

  it("names three holders and counts the others", () => {
    const holders = ["a", "b", "c", "d", "e"].map((unit) => holder(unit, 1));
    expect(say(full({ holders }))).toContain("c charge for 1s and 2 more)");
  });

  it("says that it drains when its limit was lowered", () => {
    const reason = full({ limit: 5, held: 7 });
    expect(say(reason)).toBe('queue "stripe" is draining: 7 of 5 held');
    expect(remedy(reason)).toEqual({ action: "setLimit", gate: "queue:stripe", limit: 8 });
  });

  it("with some room, but not enough, does not call itself full", () => {
    const reason = full({ gate: "pool:gpu", limit: 5, held: 4, asked: 3 });
    expect(say(reason)).toBe('pool "gpu" has no room for 3 slots: 4 of 5 held');
    expect(remedy(reason)).toEqual({ action: "setLimit", gate: "pool:gpu", limit: 7 });
  });

  it("is opened by a limit with one more slot", () => {
    expect(remedy(full())).toEqual({ action: "setLimit", gate: "queue:stripe", limit: 4 });
    expect(remedy(full({ gate: "pool:gpu", limit: 2, held: 2 }))).toEqual({
      action: "setLimit",
      gate: "pool:gpu",
      limit: 3,
    });
  });
});

about("standing behind another unit", () => {
  const reason: Reason = {
    kind: "behind",
    gate: "pool:gpu",
    limit: 4,
    held: 2,
    asked: 1,
    ahead: 3,
    front: {
      unit: "01k9",
      reasons: [
        full({ gate: "pool:gpu", limit: 4, held: 2, asked: 3 }),
        { kind: "paused", gate: "pool:db", ahead: 0 },
      ],
    },
  };

  it("says who is in front and what holds that one back", () => {
    expect(say(reason)).toBe(
      'pool "gpu": 3 waiting ahead; 01k9 is in front and waits because pool "gpu" has no room for 3 slots: 2 of 4 held, and because pool "db" is paused',
    );
  });

  it("puts the reasons of the front below it when indented", () => {
    expect(describe(reason, { now: NOW, indent: 2 }).split("\n")).toEqual([
      '  pool "gpu": 3 waiting ahead; 01k9 is in front and waits because',
      '    pool "gpu" has no room for 3 slots: 2 of 4 held',
      '    pool "db" is paused',
    ]);
  });

  it("is not ended by what ends the wait of the front: the front then holds the slots kept for it", () => {
    expect(remedies(reason)).toEqual([]);
    expect(remedies({ ...reason, room: 9 })).toEqual([{ action: "setLimit", gate: "pool:gpu", limit: 9 }]);
    expect(waitFor(reason)).toBe("wait until 01k9 and 2 other units ahead have started");
  });

  it("at a mutex lasts until the units ahead have ended", () => {
    const books = { ...reason, gate: "mutex:books", limit: 1, held: 0, ahead: 1, room: 2 } as const;
    expect(say(books)).toMatch(
      /^mutex "books": 1 waiting ahead, which must start and end first, or be cancelled; 01k9 is in front and waits because pool "gpu"/,
    );
    expect(waitFor(books)).toBe("wait until 01k9 has ended, or cancel it");
    expect(waitFor({ ...books, ahead: 3 })).toBe(
      "wait until 01k9 and 2 other units ahead have ended, or cancel them",
    );
  });
});

about("a gate that admits nobody", () => {
  it("is paused", () => {
    const queue: Reason = { kind: "paused", gate: "queue:stripe", ahead: 2 };
    expect(say(queue)).toBe('queue "stripe" is paused, 2 waiting ahead');
    expect(say({ ...queue, zero: true })).toBe('queue "stripe" is paused by its limit of 0, 2 waiting ahead');
    expect(remedy({ ...queue, zero: true })).toEqual({ action: "resetLimit", gate: "queue:stripe" });
    expect(remedy(queue)).toEqual({ action: "resumeQueue", queue: "stripe" });
    const run: Reason = { kind: "paused", gate: "run:01m7/async", ahead: 0 };
    expect([say(run), remedy(run)]).toEqual(["run 01m7 is paused", { action: "resumeRun", run: "01m7" }]);
    expect(remedy({ kind: "paused", gate: "cluster", ahead: 0 })).toEqual({
      action: "setLimit",
      gate: "cluster",
    });
  });

  it("has no limit yet", () => {
    const taken: Reason = { kind: "unset", gate: "pool:gpu", ahead: 0 };
    expect(say(taken)).toBe('pool "gpu" has no limit yet, so it admits nothing');
    const reason: Reason = { kind: "unset", gate: "pool:gpu", undeclared: true, ahead: 0 };
    expect(say(reason)).toBe(
      'pool "gpu" has no limit yet, so it admits nothing: start a worker of the app that declares it, or deploy that app',
    );
    expect(remedies(reason)).toEqual([{ action: "setLimit", gate: "pool:gpu" }, { action: "deploy" }]);
  });

  it("is smaller than what was asked for", () => {
    expect(say({ kind: "never", gate: "pool:gpu", limit: 2, asked: 3 })).toBe(
      'pool "gpu": asked for 3 slots, but its limit is 2, so this can never start. Ask for fewer, or raise the limit to 3',
    );
  });
});

about("waiting for something else than a gate", () => {
  it("is for a time to come", () => {
    const at = NOW + 252_000;
    expect(say({ kind: "later", at, because: "retry" })).toBe(
      "not before 2026-11-16T03:00:00Z (in 4m12s), retry delay",
    );
    expect(say({ kind: "later", at: NOW, because: "delay" })).toContain("(due), start delay");
    expect(remedy({ kind: "later", at, because: "delay" })).toBeUndefined();
    expect(waitFor({ kind: "later", at, because: "delay" })).toBe("wait until 2026-11-16T03:00:00Z");
  });

  it("is for other units", () => {
    expect(say({ kind: "needs", units: ["users", "sync"] })).toBe("users, sync must finish first");
  });

  it("is for a worker with a free slot", () => {
    expect(say({ kind: "busy", workers: 2, slots: 32, ahead: 0 })).toBe(
      "every worker that serves it is busy: 2 workers, 32 slots",
    );
    expect(say({ kind: "busy", workers: 1, slots: 1, ahead: 4 })).toContain(
      "1 worker, 1 slot, 4 waiting ahead",
    );
  });

  it("is for any worker at all", () => {
    const reason: Reason = { kind: "noWorker", queue: "stripe", name: "charge" };
    expect(say(reason)).toBe('no live worker serves queue "stripe" and knows task "charge"');
    expect(remedy(reason)).toEqual({ action: "startWorker", queue: "stripe" });
  });
});

about("a gate", () => {
  it("is called by its kind and name", () => {
    expect(gateTitle("cluster")).toBe("the cluster cap");
    expect(gateTitle("pool:tenant=acme")).toBe('pool "tenant=acme"');
    expect(gateTitle("mutex:default/nightly")).toBe('mutex "nightly"');
    expect(gateTitle("mutex:default/docs/index")).toBe('mutex "docs/index"');
    expect(gateTitle("semaphore:ops/config/key")).toBe('semaphore "config/key" of namespace "ops"');
    expect(gateTitle("runs")).toBe("the run cap");
    expect(gateTitle("tag:env=prod")).toBe('tag "env=prod"');
    expect(gateTitle("run:01m7/workers")).toBe("its run's maxWorkers");
    expect(gateTitle("run:01m7/items/load")).toBe('the window of step "load"');
  });
});
