// Eight processes and one mutex around a shared resource, while processes are killed, and frozen for longer than
// their lease. SLUICE_LOCK_ROUNDS=1000 is the long form.

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { describeOn } from "../e2e/support/places.ts";
import { rivals } from "./support/rivals.ts";

const ROUNDS = Number(process.env.SLUICE_LOCK_ROUNDS ?? 8);
const PROCESSES = 8;
const LEASE_MS = 700;
/** One disturbance for so many grants: a kill, then a freeze. */
const EVERY = Math.max(13, Math.floor((ROUNDS * PROCESSES) / 80));

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  test("fences grow with every grant, and the resource takes no stale write", {
    timeout: 3_600_000,
  }, async () => {
    const url = (await place.open()) as string;
    if (place.name === "SQLite") await (await import("./support/clients.ts")).migrated(url);
    const { resource, all } = await rivals(url, {
      processes: PROCESSES,
      rounds: ROUNDS,
      lease: `${LEASE_MS}ms`,
    });
    let isOver = false;
    let [kills, freezes] = [0, 0];
    const disturb = async (): Promise<void> => {
      let next = EVERY;
      for (let turn = 0; !isOver; turn += 1) {
        while (resource.granted.length < next && !isOver) await sleep(2);
        if (isOver) return;
        next += EVERY;
        const victim = all[turn % PROCESSES];
        if (turn % 2 === 0) kills += Number(victim?.kill());
        else {
          victim?.signal("SIGSTOP");
          freezes += 1;
          await sleep(LEASE_MS * 1.5);
          victim?.signal("SIGCONT");
        }
      }
    };
    const disturbing = disturb();
    await Promise.all(all.map(({ done }) => done));
    isOver = true;
    await disturbing;
    const { granted, accepted, refused, value } = resource;
    expect(new Set(granted).size).toBe(granted.length);
    expect(accepted).toEqual([...accepted].sort((a, b) => a - b));
    expect(new Set(accepted).size).toBe(accepted.length);
    // Every accepted write has seen the one before it.
    expect(value).toBe(accepted.length);
    expect(accepted.length + refused).toBeGreaterThanOrEqual(ROUNDS * PROCESSES);
    console.info(
      `${place.name}: ${granted.length} grants, ${kills} kills, ${freezes} freezes, ${refused} stale writes refused`,
    );
  });
});
