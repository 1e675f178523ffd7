import { describe, expect, test } from "vitest";
import { SluiceError } from "../../core/error.ts";
import type { Action, Remedy } from "../../core/remedy.ts";
import { callOf, REMEDIES } from "../../core/remedy.ts";
import { createProgram } from "./program.ts";
import { sayError, sayRemedy } from "./remedy.ts";

/** One remedy for each action. */
const EACH: { readonly [A in Action]: Extract<Remedy, { action: A }> } = {
  setLimit: { action: "setLimit", gate: "pool:gpu", limit: 3 },
  makeGate: { action: "makeGate", gate: "pool:gpu", limit: 3 },
  resetLimit: { action: "resetLimit", gate: "pool:gpu" },
  listLimits: { action: "listLimits" },
  makePool: { action: "makePool", pool: "gpu", limit: 3 },
  listPools: { action: "listPools" },
  pauseQueue: { action: "pauseQueue", queue: "mail" },
  resumeQueue: { action: "resumeQueue", queue: "mail" },
  listQueues: { action: "listQueues" },
  resumeRun: { action: "resumeRun", run: "01m7" },
  cancelRun: { action: "cancelRun", run: "01m7" },
  rerun: { action: "rerun", run: "01m7" },
  approve: { action: "approve", run: "01kxt", step: "release" },
  signal: { action: "signal", event: "paid", match: { orderId: "A 1" } },
  listRuns: { action: "listRuns", state: "started" },
  cancelTask: { action: "cancelTask", task: "01m7" },
  listTasks: { action: "listTasks" },
  restoreLane: { action: "restoreLane", lane: "01m7" },
  listSchedules: { action: "listSchedules" },
  startWorker: { action: "startWorker", queue: "mail" },
  deploy: { action: "deploy" },
  migrate: { action: "migrate" },
  explainRun: { action: "explainRun", run: "01m7" },
  inspect: { action: "inspect" },
};

const command = (remedy: Remedy): string[] => sayRemedy(remedy, {}).replace("npx ", "").split(" ").slice(1);

describe("a remedy as a command", () => {
  test.each(Object.keys(REMEDIES) as Action[])("%s is one that the program has", async (action) => {
    const words = command(EACH[action]);
    let at = await createProgram(words);
    for (const word of words) {
      const next = at.commands.find((each) => each.name() === word);
      if (!next) break;
      at = next;
    }
    expect(at.commands, words.join(" ")).toEqual([]);
    expect(at.parent, words.join(" ")).not.toBeNull();
  });

  test("says LIMIT where a person chooses, and quotes what could mislead a shell", () => {
    expect(sayRemedy({ action: "setLimit", gate: "pool:tenant=o'neil; rm" }, {})).toBe(
      "npx sluice limits set 'pool:tenant=o'\\''neil; rm' LIMIT",
    );
  });

  test("leaves a hole for what only a person knows, which is no JSON", () => {
    const signal = { action: "signal", event: "paid", match: { orderId: "A 1" } } as const;
    expect(sayRemedy(signal, {})).toBe(`npx sluice signal paid '{"orderId":"A 1", …}' --app app.ts`);
    expect(callOf(signal)).toBe('sluice.signal("paid", {"orderId":"A 1", …})');
    expect(sayRemedy({ ...signal, match: {} }, {})).toBe("npx sluice signal paid '{…}' --app app.ts");
  });

  test("says who answers, if only some may", () => {
    const approve = { action: "approve", run: "01m7", step: "ok" } as const;
    expect(sayRemedy(approve, {})).toBe("npx sluice runs approve 01m7 ok");
    expect(callOf(approve)).toBe('sluice.runs.approve("01m7", "ok")');
    expect(sayRemedy({ ...approve, by: ["ana"] }, {})).toBe("npx sluice runs approve 01m7 ok --by ana");
    expect(callOf({ ...approve, by: ["ana"] })).toBe('sluice.runs.approve("01m7", "ok", { by: "ana" })');
    expect(sayRemedy({ ...approve, by: ["ana", "bob"] }, {})).toBe(
      "npx sluice runs approve 01m7 ok --by NAME",
    );
    expect(callOf({ ...approve, by: ["ana", "bob"] })).toBe(
      'sluice.runs.approve("01m7", "ok", { by: NAME })',
    );
  });

  test("names the store that was named", () => {
    expect(sayRemedy({ action: "migrate" }, { store: "file:a.db" })).toBe(
      "npx sluice migrate --store file:a.db",
    );
  });
});

describe("an error on the command line", () => {
  test("ends with its remedies as commands, where a program reads calls", () => {
    const error = new SluiceError("UNKNOWN_POOL", 'There is no pool "a".', {
      remedies: [{ action: "listPools" }, { action: "makePool", pool: "a", limit: 5 }],
    });
    expect(sayError(error, {})).toBe(
      'There is no pool "a". See: npx sluice pools list. To create it: npx sluice pools set a 5 --new',
    );
    expect(error.message).not.toContain("npx");
  });

  test("of another kind says what it is", () => {
    expect(sayError(new Error("no"), {})).toBe("no");
    expect(sayError({ code: "ECONNREFUSED" }, {})).toBe("ECONNREFUSED");
  });
});
