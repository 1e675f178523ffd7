// `sluice pools` on an embedded store that a worker is using.

import { beforeAll, describe, expect, test } from "vitest";
import { openWorkshop } from "./workshop.ts";

const shop = openWorkshop();
let run = "";

beforeAll(async () => {
  run = await shop.diamond("never");
  await shop.stepIs(run, "left", "running");
  await shop.stepIs(run, "right", "waiting");
}, 30_000);

describe("pools list", () => {
  test("shows limit, claimed, pending and lease", async () => {
    expect(await shop.table("pools", "list")).toBe(
      "POOL      LIMIT  CLAIMED  PENDING  LEASE\ndatabase  5      3        1        5m\n",
    );
  });

  test("as data", async () => {
    expect(await shop.data("pools", "list")).toEqual([
      {
        name: "database",
        limit: 5,
        perValue: false,
        claimed: 3,
        pending: 1,
        leaseMs: 300_000,
        paused: false,
        draining: false,
      },
    ]);
  });
});

describe("pools info", () => {
  test("names who holds slots: run, step, slots, since when and until when", async () => {
    expect(await shop.table("pools", "info", "database")).toMatch(
      new RegExp(
        `^pool +database\\nlimit +5\\nclaimed +3\\npending +1\\nlease +5m\\n\\nRUN +STEP +SLOTS +CLAIMED +LEASE EXPIRES\\n${run}  left  3      \\w+ ago +in \\w+\\n$`,
      ),
    );
  });

  test("as data", async () => {
    expect(await shop.data("pools", "info", "database")).toMatchObject({
      name: "database",
      claimed: 3,
      holders: [
        {
          run,
          step: "left",
          name: "held",
          slots: 3,
          claimedAt: expect.any(Number),
          leaseLeftMs: expect.any(Number),
        },
      ],
    });
  });

  test("of an unknown pool fails and says what there is to do", async () => {
    expect(await shop.ends(["pools", "info", "zzz"])).toEqual({
      code: 1,
      stdout: "",
      stderr:
        'error UNKNOWN_POOL: There is no pool "zzz" in this store. See: npx sluice pools list. To create it: npx sluice pools set zzz 5 --new\n',
    });
  });
});

describe("pools set", () => {
  test("changes limit and lease, says what that means, and lets those in that fit now", async () => {
    expect(await shop.table("pools", "set", "database", "2")).toBe(
      "pool database: 5 → 2, lease 5m, draining: 3 held. Running work continues; nothing new starts until enough of it has ended. 1 unit waiting.\n",
    );
    expect(await shop.table("pools", "list")).toMatch(/^database +2 +3 draining +1 +5m$/m);
    expect(await shop.data("pools", "set", "database", "6", "--lease", "30s", "--by", "ann")).toMatchObject({
      name: "database",
      from: 2,
      limit: 6,
      leaseMs: 30_000,
    });
    await shop.stepIs(run, "right", "running");
    expect(await shop.table("limits", "list")).toMatch(/^pool:database +6\/6 +bypass +operator ann /m);
  });

  test("makes a pool that is not there, and doubts the name", async () => {
    expect(await shop.table("pools", "set", "gpu", "2")).toMatch(
      /^pool gpu: unset → 2\.\nNo app declares this gate .*: npx sluice limits delete pool:gpu\n$/,
    );
    expect(await shop.table("pools", "list")).toMatch(/^gpu +2 +0 +0 +-$/m);
    expect(await shop.table("pools", "set", "gpu", "0")).toMatch(
      /^pool gpu: 2 → 0, paused: nothing new starts\./,
    );
    expect(await shop.table("pools", "list")).toMatch(/^gpu +0 paused +0 +0 +-$/m);
  });

  test("takes a name that resembles another pool's for a slip, unless it is told that it is none", async () => {
    expect(await shop.ends(["pools", "set", "databse", "2"])).toMatchObject({
      code: 1,
      stderr:
        'error UNKNOWN_POOL: There is no pool "databse" in this store. Did you mean "database"? To create it: npx sluice pools set databse 2 --new\n',
    });
    expect(await shop.table("pools", "set", "databse", "2", "--new")).toMatch(/^pool databse: unset → 2\./);
    await shop.table("limits", "delete", "pool:databse");
  });

  test.each([
    [["gpu", "many"], 2, /^error USAGE: .*It must be 1 or more, 0 to pause, or -1 \(unlimited\)\./],
    [
      ["gpu", "2", "--lease", "5"],
      1,
      /^error BAD_DURATION: duration "5" has no unit: write "5s" or "5ms"\n$/,
    ],
    [
      ["gpu", "2", "--lease", "10ms"],
      1,
      /^error BAD_LEASE: pool:gpu: its lease must be 1s or more, but is 10ms\.\n$/,
    ],
    [
      ["", "5"],
      1,
      /^error BAD_GATE: "pool:" is not the key of a gate. A key is a kind and a name, like pool:gpu\.\n$/,
    ],
  ])("refuses %j", async (args, code, sentence) => {
    expect(await shop.ends(["pools", "set", ...args])).toEqual({
      code,
      stdout: "",
      stderr: expect.stringMatching(sentence),
    });
  });
});
