/**
 * Changes limits all the time: mostly by plain SQL, now and then by the command line, as an operator would.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { DECLARED } from "../app/limits.ts";
import { command } from "../crew/product.ts";
import type { Random } from "../random.ts";
import type { Scene } from "./scene.ts";

type Gate = keyof typeof DECLARED;

const NARROW = { cluster: 4, runs: 3, "pool:database": 3 } as const satisfies Partial<Record<Gate, number>>;

export async function changeLimits(
  { place, product, done }: Scene,
  random: Random,
  until: AbortSignal,
): Promise<void> {
  const gates = Object.keys(DECLARED) as Gate[];
  for (let n = 0; !until.aborted; n += 1) {
    const gate = random.pick(gates);
    const limit = drawLimit(random, gate);
    try {
      if (n % 10 === 9) {
        await command(product, [
          "limits",
          "set",
          gate,
          "--store",
          place.url,
          "--by",
          "chaos",
          "--",
          String(limit),
        ]);
        done.add("limits set by command");
      } else {
        await place.sql(`UPDATE sluice_gate SET capacity = ${limit}, paused = 0 WHERE name = '${gate}'`);
        done.add("limits set by SQL");
      }
    } catch {
      // The store may be away just now. The next change comes anyway.
    }
    await sleep(random.between(150, 500), undefined, { signal: until }).catch(() => {});
  }
}

/** Mostly near the declared limit, now and then closed or unlimited. The mutex never exceeds one. */
function drawLimit(random: Random, gate: Gate): number {
  if (gate === "pool:mutex") return random.chance(0.8) ? 1 : 0;
  const what = random.next();
  if (what < 0.04) return 0;
  if (what < 0.08) return -1;
  const declared = DECLARED[gate];
  return Math.ceil(declared / 3) + random.below(declared);
}

/** Sets the limits that the app declared. */
export async function resetLimits({ place }: Pick<Scene, "place">): Promise<void> {
  await setLimits(place, DECLARED);
}

/**
 * Makes these gates so narrow that the work in line fills them, however slow the machine. The others are as
 * declared.
 */
export async function narrowLimits(
  { place }: Pick<Scene, "place">,
  gates: readonly (keyof typeof NARROW)[],
): Promise<void> {
  await setLimits(place, {
    ...DECLARED,
    ...Object.fromEntries(gates.map((gate) => [gate, NARROW[gate]])),
  });
}

async function setLimits(place: Scene["place"], limits: Readonly<Record<string, number>>): Promise<void> {
  for (const [gate, limit] of Object.entries(limits))
    await place.sql(`UPDATE sluice_gate SET capacity = ${limit}, paused = 0 WHERE name = '${gate}'`);
}
