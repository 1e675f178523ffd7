// A holder reports late while another process recovers its claim: both want the gate and the claim.

import { expect, test } from "vitest";
import type { Claimed } from "../../src/store/store.ts";
import { describeOn, GATE, IDLE, intake, limit, newTask, placeOf, scopeOf } from "./support.ts";

const ROUNDS = 60;
const UNITS = 6;
const GATES = [GATE, "queue:race"];

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    test("to complete first and lock the gate afterwards ends in a deadlock", async () => {
      const place = await placeOf(name);
      try {
        const store = await place.open();
        await store.openSession({ id: "s1", name: "s1", slots: 4, serves: "{}", leaseMs: 600_000 });
        await limit(store, GATE, 5);
        await store.enqueue([newTask("a")]);
        await intake(store);
        await store.pass(scopeOf({ exclusive: GATES }), () => ({
          ...IDLE,
          claim: [{ id: "a", held: true }],
        }));
        const [completer, reaper] = await Promise.all([place.beside(), place.beside()]);
        const lockGate = `SELECT * FROM sluice_gate WHERE name = '${GATE}' FOR UPDATE`;
        await completer.query("BEGIN");
        await completer.query("DELETE FROM sluice_running WHERE id = 'a'");
        await reaper.query("BEGIN");
        await reaper.query(lockGate);
        const both = await Promise.allSettled([
          reaper.query("SELECT * FROM sluice_running WHERE id = 'a' FOR UPDATE"),
          completer.query(lockGate),
        ]);
        const codes = both.flatMap((each) =>
          each.status === "rejected" ? [(each.reason as { code: string }).code] : [],
        );
        expect(codes).toEqual([name === "PostgreSQL" ? "40P01" : "ER_LOCK_DEADLOCK"]);
      } finally {
        await place.close();
      }
    });

    test(`our passes never do: ${ROUNDS} rounds of late reports against recoveries`, {
      timeout: 120_000,
    }, async () => {
      const place = await placeOf(name);
      try {
        // A store pauses before it retries a lost race, so counting its pauses counts deadlocks.
        let again = 0;
        const sleep = async (): Promise<void> => {
          again += 1;
        };
        const stores = await Promise.all(Array.from({ length: 4 }, () => place.open({ sleep })));
        const [store] = stores as [(typeof stores)[number]];
        const ids = Array.from({ length: UNITS }, (_, index) => `t${index}`);
        await limit(store, GATE, 50);
        await store.enqueue(ids.map((id) => newTask(id)));
        await intake(store);
        let late = 0;
        let recovered = 0;
        for (let round = 0; round < ROUNDS; round += 1) {
          const session = `s${round}`;
          await store.openSession({ id: session, name: session, slots: 9, serves: "{}", leaseMs: 600_000 });
          const claim = ids.map((id) => ({ id, held: true }));
          const { claimed } = await store.pass(scopeOf({ session, exclusive: GATES, intake: true }), () => ({
            ...IDLE,
            claim,
          }));
          expect(claimed).toHaveLength(UNITS);
          // The session is over, and its holder does not know: both sides want to end its claims now.
          await store.closeSession(session);
          again = 0;
          const back = (claims: readonly Claimed[]) =>
            claims.map(({ id, epoch }) => ({ id, epoch, to: "returned", body: null, delayMs: 0 }) as const);
          // Reports are completed before the gates are locked, so left alone they always come first. In every
          // other round they start only once a recovery holds the claims.
          const recoveryFirst = round % 2 === 1;
          let holding = (): void => {};
          const held = new Promise<void>((resolve) => {
            holding = resolve;
          });
          const results = await Promise.all(
            stores.map(async (each, place) => {
              // Each store is the first to start in some rounds.
              const index = (place + round) % stores.length;
              if (recoveryFirst && index < 2) await held;
              return each.pass(
                scopeOf({
                  session,
                  exclusive: GATES,
                  // Two report, in opposite orders; two recover.
                  finished: index === 0 ? back(claimed) : index === 1 ? back(claimed.toReversed()) : [],
                }),
                ({ lost }) => {
                  if (index >= 2) {
                    recovered += lost.length;
                    holding();
                  }
                  return {
                    ...IDLE,
                    recover:
                      index < 2
                        ? []
                        : lost.map(({ id, epoch }) => ({ id, epoch, to: "waiting", body: null }) as const),
                  };
                },
              );
            }),
          );
          late += results.reduce((sum, { accepted }) => sum + accepted.size, 0);
          expect(again, `lost races in round ${round}`).toBe(0);
        }
        // Both sides have won in some rounds, and every claim ended once.
        expect(late + recovered).toBe(ROUNDS * UNITS);
        expect(Math.min(late, recovered)).toBeGreaterThan(0);
        for (const id of ids) {
          const events = await store.events(id);
          expect(events.map(({ n }) => n)).toEqual(events.map((_, index) => index + 1));
          expect(events.filter(({ kind }) => kind === "TaskReturned")).toHaveLength(ROUNDS);
        }
      } finally {
        await place.close();
      }
    });

    test("to lock what is shared before what is not ends in a deadlock when two believe different limits", async () => {
      const place = await placeOf(name);
      try {
        const store = await place.open();
        for (const gate of GATES) await limit(store, gate, 5);
        const [one, two] = await Promise.all([place.beside(), place.beside()]);
        const [first, second] = GATES as [string, string];
        const share = name === "PostgreSQL" ? "FOR SHARE" : "LOCK IN SHARE MODE";
        const lock = (gate: string, how: string) => `SELECT * FROM sluice_gate WHERE name = '${gate}' ${how}`;
        await one.query("BEGIN");
        await two.query("BEGIN");
        await one.query(lock(first, share));
        await two.query(lock(second, share));
        const both = await Promise.allSettled([
          one.query(lock(second, "FOR UPDATE")),
          two.query(lock(first, "FOR UPDATE")),
        ]);
        expect(both.filter(({ status }) => status === "rejected")).toHaveLength(1);
      } finally {
        await place.close();
      }
    });

    test(`our passes never do: ${ROUNDS} rounds of two that share what the other wants alone`, {
      timeout: 120_000,
    }, async () => {
      const place = await placeOf(name);
      try {
        let again = 0;
        const sleep = async (): Promise<void> => {
          again += 1;
        };
        const stores = await Promise.all(Array.from({ length: 4 }, () => place.open({ sleep })));
        const [first, second] = GATES as [string, string];
        for (const gate of GATES) await limit(stores[0] as (typeof stores)[number], gate, 5);
        let passes = 0;
        await Promise.all(
          stores.map(async (each, index) => {
            const [alone, shared] = index % 2 === 0 ? [first, second] : [second, first];
            for (let round = 0; round < ROUNDS; round += 1) {
              await each.pass(scopeOf({ exclusive: [alone], shared: [shared] }), ({ gates }) => {
                expect(gates.map(({ key, locked }) => [key, locked])).toEqual(
                  [first, second].sort().map((key) => [key, key === alone]),
                );
                passes += 1;
                return IDLE;
              });
            }
          }),
        );
        expect([again, passes]).toEqual([0, ROUNDS * stores.length]);
      } finally {
        await place.close();
      }
    });
  });
}
