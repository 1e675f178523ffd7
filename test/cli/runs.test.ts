// `sluice runs` and `sluice why RUN` on an embedded store that a worker is using.

import { beforeAll, describe, expect, test } from "vitest";
import { openWorkshop } from "./workshop.ts";

const shop = openWorkshop();
/** A run in progress: one step runs and one waits for the pool. */
let open = "";
let failed = "";

beforeAll(async () => {
  open = await shop.diamond("never", "--tag", "tenant=acme");
  failed = (await shop.data("submit", "app.js", "broken")).id;
  await shop.reaches(failed, "failed");
  await shop.stepIs(open, "left", "running");
  await shop.stepIs(open, "right", "waiting");
}, 30_000);

describe("runs list", () => {
  test("shows the newest first, with state, time, priority and tags", async () => {
    expect(await shop.table("runs", "list")).toMatch(
      new RegExp(
        `^RUN +WORKFLOW +STATE +SINCE +RAN FOR +PRIORITY +TAGS\\n${failed}  broken +failed +\\w+ ago +\\w+ +0 +-\\n${open}  diamond +started +\\w+ ago +\\w+ +0 +env=test, tenant=acme\\n$`,
      ),
    );
  });

  test("as data, by state, workflow and tag, and page by page", async () => {
    const ids = async (...args: string[]): Promise<string[]> =>
      (await shop.data("runs", "list", ...args)).map(({ id }: { id: string }) => id);
    expect(await ids()).toEqual([failed, open]);
    expect(await ids("--state", "failed")).toEqual([failed]);
    expect(await ids("--workflow", "diamond")).toEqual([open]);
    expect(await ids("--tag", "tenant=acme")).toEqual([open]);
    expect(await ids("--tag", "tenant=other")).toEqual([]);
    expect(await ids("--limit", "1")).toEqual([failed]);
    expect(await ids("--before", failed)).toEqual([open]);
    expect(await shop.table("runs", "list", "--limit", "1")).toMatch(
      new RegExp(`^More: --before ${failed}$`, "m"),
    );
  });

  test("refuses a state that there is not", async () => {
    expect(await shop.ends(["runs", "list", "--state", "done"])).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("runs show", () => {
  test("prints its steps, and how long each waited on which gate", async () => {
    const text = await shop.table("runs", "show", open);
    expect(text).toMatch(new RegExp(`^run +${open}\\nworkflow +diamond\\nstate +started\\n`));
    expect(text).toMatch(/^source +cli by \w+$/m);
    expect(text).toMatch(/^input +\{"file":"never"\}$/m);
    expect(text).toMatch(/^STEP +STATE +ATTEMPT +WAITED +RAN FOR +RESULT$/m);
    expect(text).toMatch(/^first +succeeded +1 +\w+ +\w+ +\{"n":1\}$/m);
    expect(text).toMatch(/^left +running +1 +\w+ +\w+ +progress \{"done":1,"of":4\}$/m);
    expect(text).toMatch(/^right +waiting +- +\w+ on pool "database" +-$/m);
    expect(text).toMatch(/^last +pending +- +- +- +after left, right$/m);
  });

  test("of a failed run names what went wrong and how to run it again", async () => {
    const text = await shop.table("runs", "show", failed);
    expect(text).toMatch(/^error +Step bad did not succeed\.$/m);
    expect(text).toMatch(/^bad +failed +1 +\w+ +\w+ +Error: no such table$/m);
    expect(text).toMatch(/^never +skipped +- +- +- +step bad failed$/m);
    expect(text).toMatch(new RegExp(`: npx sluice runs rerun app\\.js ${failed}\\n$`));
  });

  test("with --events prints them in order", async () => {
    const text = await shop.table("runs", "show", failed, "--events");
    const lines = [...text.matchAll(/^\d{4}-\S+Z +\+[\d.]+s +(\w+) +(\S+) *(.*)$/gm)].map(
      ([, ...rest]) => rest,
    );
    expect(lines).toEqual([
      ["RunQueued", "-", "priority 0"],
      ["RunDequeued", "-", "priority 0"],
      ["RunStarted", "-", ""],
      ["StepReady", "fine", "priority 0"],
      ["StepStarted", "fine", "attempt 1"],
      ["StepSucceeded", "fine", ""],
      ["StepReady", "bad", "priority 0"],
      ["StepStarted", "bad", "attempt 1"],
      ["StepFailed", "bad", "Error: no such table"],
      ["RunFailed", "-", "Step bad did not succeed."],
    ]);
  });

  test("as data has everything: steps, waits and events", async () => {
    const data = await shop.data("runs", "show", open);
    expect(data).toMatchObject({
      id: open,
      workflow: "diamond",
      state: "started",
      steps: [{ name: "first", result: { n: 1 } }, { name: "left" }, { name: "right" }, { name: "last" }],
      waits: { right: [{ gate: "pool:database", forMs: expect.any(Number) }] },
    });
    const ofRight = data.events.filter(({ step }: { step?: string }) => step === "right");
    expect(ofRight).toMatchObject([
      { kind: "StepReady" },
      { kind: "StepSlotWaiting", data: { reason: 'waiting for pool "database"' } },
    ]);
  });

  test("takes the beginning of an id; one that fits several is told", async () => {
    expect(await shop.data("runs", "show", failed.slice(0, -2))).toMatchObject({ id: failed });
    const { code, stderr } = await shop.ends(["runs", "show", "0"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error AMBIGUOUS_ID: More than one run starts with 0; type more of it:\n/);
  });
});

describe("why", () => {
  test("of a run in progress says which steps run, which wait and for what", async () => {
    const text = await shop.table("why", open);
    expect(text).toMatch(new RegExp(`^diamond ${open} has been in progress for \\w+, 1 of 4 steps done:\\n`));
    expect(text).toMatch(/^ {2}step left \w{22} has been running for \w+\.$/m);
    expect(text).toMatch(
      /^ {2}step right \w{22} has been waiting for \w+, because\n {4}pool "database" has no room for 3 slots: 3 of 5 held \(by .*\)\n {8}npx sluice limits set pool:database 6$/m,
    );
    expect(text).toMatch(/^ {2}step last comes after left, right\.$/m);
    expect(await shop.data("why", open)).toMatchObject({
      id: open,
      state: "started",
      paused: false,
      steps: [
        {},
        { name: "left", state: "running" },
        { name: "right", reasons: [{ kind: "full", gate: "pool:database" }] },
        {},
      ],
    });
  });

  test("of a step's task says the same of it alone", async () => {
    const unit = (await shop.sluice.runs.get(open))?.steps[2]?.unit as string;
    expect(await shop.table("why", unit)).toMatch(
      new RegExp(
        `^held ${unit} has been waiting in queue "default" for \\w+, because\\n  pool "database" has no room`,
      ),
    );
  });

  test("of a finished run says how it ended", async () => {
    expect(await shop.table("why", failed)).toMatch(
      new RegExp(
        `^broken ${failed} failed \\w+ ago, after \\w+: Step bad did not succeed\\.\\n  Run it again, keeping what succeeded: npx sluice runs rerun app\\.js ${failed}\\n$`,
      ),
    );
    expect(await shop.data("why", failed)).toMatchObject({
      state: "failed",
      ending: expect.stringMatching(/^failed /),
    });
  });
});

describe("a run is steered by", () => {
  test("runs pause and runs resume", async () => {
    expect(await shop.table("runs", "pause", open)).toBe(
      `run ${open} is paused: no more steps start, 1 step still running. To resume: npx sluice runs resume ${open}\n`,
    );
    expect(await shop.table("runs", "list", "--state", "started")).toMatch(/ started, paused /);
    expect(await shop.table("why", open)).toMatch(
      new RegExp(
        `, and cannot continue, because\\n  run ${open} is paused\\n      npx sluice runs resume ${open}\\n`,
      ),
    );
    expect(await shop.data("runs", "resume", open)).toEqual({ id: open, paused: false, running: 1 });
    expect(await shop.ends(["runs", "pause", failed])).toEqual(
      failure(`NOT_IN_PROGRESS: run ${failed} is failed; only a run in progress can be paused.`),
    );
  });

  test("runs rerun, which takes over what succeeded unless told otherwise", async () => {
    const { id, rerunOf } = await shop.data("runs", "rerun", "app.js", failed);
    expect(rerunOf).toBe(failed);
    await shop.reaches(id, "failed");
    const unitOf = async (run: string) => (await shop.sluice.runs.get(run))?.steps[0]?.unit;
    expect(await unitOf(id)).toBe(await unitOf(failed));
    const again = await shop.ends(["runs", "rerun", "app.js", failed, "--all", "--watch", "--json"]);
    expect(again).toMatchObject({ code: 1, stderr: "" });
    const all = JSON.parse(again.stdout);
    expect(all).toMatchObject({ state: "failed", rerunOf: failed });
    expect(all.steps[0].unit).not.toBe(await unitOf(failed));
    expect(await shop.ends(["runs", "rerun", "app.js", open])).toEqual(
      failure(`NOT_FINISHED: run ${open} is started; only a finished run can be run again.`),
    );
  });

  test("runs cancel, which ends a watch with 1", async () => {
    const watching = shop.ends(["runs", "watch", open]);
    expect(await shop.table("runs", "cancel", open)).toBe(`run ${open} is cancelled; it was started.\n`);
    const { code, stdout, stderr } = await watching;
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(stdout).toMatch(new RegExp(` ${open} was cancelled after \\w+, by \\w+\\.\\n$`));
    expect(await shop.ends(["runs", "cancel", open])).toEqual(
      failure(
        expect.stringMatching(
          /^error ALREADY_FINISHED: run \w+ was cancelled \w+ ago.* There is nothing to cancel\.\n$/,
        ),
      ),
    );
  });

  test.each(["show", "watch", "cancel", "pause", "resume"])(
    "runs %s, not of one that is not there",
    async (verb) => {
      expect(await shop.ends(["runs", verb, "zzz"])).toEqual(
        failure("UNKNOWN_ID: There is no run zzz in this store. See: npx sluice runs list"),
      );
    },
  );

  test.each(["show", "cancel", "retry"])(
    "no command of tasks: tasks %s names the right one",
    async (verb) => {
      expect(await shop.ends(["tasks", verb, failed])).toEqual(
        failure(`UNKNOWN_ID: ${failed} is a run, not a task. See: npx sluice runs show ${failed}`),
      );
    },
  );
});

const failure = (sentence: unknown): object => ({
  code: 1,
  stdout: "",
  stderr: typeof sentence === "string" ? `error ${sentence}\n` : sentence,
});
