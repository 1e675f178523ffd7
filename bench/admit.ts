// `npx tsx bench/admit.ts`: how long one decision takes with 10,000 waiting units of 4 asks each over 200
// gates.
// It measures only the pure function, without store or clock. The design's target is well under 50 ms.

import type { Snapshot, Waiter } from "../src/core/gate/admit.ts";
import { admit } from "../src/core/gate/admit.ts";
import type { Gate, Line } from "../src/core/gate/gate.ts";
import { median, now } from "./measure.ts";

const UNITS = 10_000;
const GATES = 200;
const ASKS = 4;
const ROUNDS = 20;

/** The lines of the gates, and how many lanes the units share. */
const cases: readonly { name: string; lines: readonly Line[]; lanes: number; limit: number }[] = [
  {
    name: "all kinds of lines, 1,000 lanes, most wait",
    lines: ["skip", "strict", "bypass"],
    lanes: 1_000,
    limit: 20,
  },
  {
    name: "all kinds of lines, 1,000 lanes, all start",
    lines: ["skip", "strict", "bypass"],
    lanes: 1_000,
    limit: 2_000,
  },
  { name: "pools only, a lane for each unit, most wait", lines: ["bypass"], lanes: UNITS, limit: 100 },
  { name: "strict only, a lane for each unit, most wait", lines: ["strict"], lanes: UNITS, limit: 20 },
];

for (const { name, lines, lanes, limit } of cases) {
  const snapshot = build(lines, lanes, limit);
  const times: number[] = [];
  let admitted = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const start = now();
    admitted = admit(snapshot).admitted.length;
    times.push(now() - start);
  }
  const [best, worst] = [Math.min(...times), Math.max(...times)];
  console.log(
    `${name}: ${median(times).toFixed(1)} ms (${best.toFixed(1)} to ${worst.toFixed(1)}), ${admitted} of ${UNITS} start`,
  );
}

function build(lines: readonly Line[], lanes: number, limit: number): Snapshot {
  const key = (index: number): string => `gate:${index % GATES}`;
  const gates = Array.from({ length: GATES }, (_, index): Gate => {
    return { key: key(index), limit, paused: false, line: lines[index % lines.length] as Line, held: 1 };
  });
  const line = Array.from({ length: UNITS }, (_, index): Waiter => {
    const lane = (index * 7919) % lanes;
    // Different strides give each lane its own four gates, spread over all of them.
    const strides = [1, 7, 31, 101].slice(0, ASKS);
    const asks = strides.map((stride, n) => ({ gate: key(lane * stride + n), slots: 1 + ((lane + n) % 3) }));
    const unique = asks.filter((ask, n) => asks.findIndex((other) => other.gate === ask.gate) === n);
    const id = String(index).padStart(8, "0");
    return {
      id,
      rank: 1 + (index % 3),
      priority: index % 5,
      at: UNITS - index,
      lane: `lane:${lane}`,
      asks: unique,
    };
  });
  return { now: 0, gates, line };
}
