// A run over a list, moved verb by verb and without loops: the test decides who looks, claims and reports,
// and when.

import { afterAll } from "vitest";
import { openStore } from "../../../src/api/open-store.ts";
import type { Claimed, Report } from "../../../src/engine/claiming/claims.ts";
import { newsOfStep, revocation } from "../../../src/engine/claiming/recovery.ts";
import { StoreClaims } from "../../../src/engine/claiming/store-claims.ts";
import { advanceRuns } from "../../../src/engine/runs/advance.ts";
import { hostEnv } from "../../../src/env/host.ts";
import type { AnyWorkflow, AppDefinition } from "../../../src/index.ts";
import { connect, defineApp } from "../../../src/index.ts";
import type { Advanced, ItemCounts, RunMove, StepRow, Store } from "../../../src/store/store.ts";
import type { Place } from "../../e2e/support/places.ts";

const env = hostEnv();

/** One store for all tests of a suite. Their runs do not affect each other. */
export function sharedOn(place: Place): () => Promise<Store> {
  let opening: Promise<Store> | undefined;
  afterAll(async () => (await opening)?.close());
  return () => {
    opening ??= place
      .open()
      .then((where) => (typeof where === "string" ? openStore(where, { migrate: true }) : where));
    return opening;
  };
}

const SETTINGS = { newId: () => env.newId(), claimTimeoutMs: 600_000 };

/** Submits past the run gates, so that the run is in progress at once. No coordinator has advanced it yet. */
export async function begun(store: Store, definition: AppDefinition, input: unknown = null): Promise<string> {
  const [workflow] = definition.workflows as [AnyWorkflow];
  const sluice = await connect({ store, app: defineApp(definition) });
  return (await sluice.execute(workflow, input as never)).id;
}

/** Advances runs once, as one coordinator, and returns what it moved. */
export async function look(store: Store): Promise<Advanced & { readonly moves: readonly RunMove[] }> {
  let moves: readonly RunMove[] = [];
  const advanced = await store.advance((runs, results) => {
    const answer = advanceRuns(runs, results, SETTINGS);
    moves = "moves" in answer ? answer.moves : [];
    return answer;
  });
  return { ...advanced, moves };
}

/** Advances runs until there is no news. */
export async function settled(store: Store): Promise<RunMove[]> {
  const moves: RunMove[] = [];
  for (;;) {
    const { news, moves: more } = await look(store);
    if (news === 0) return moves;
    moves.push(...more);
  }
}

const CALM: Report = {
  finished: [],
  started: [],
  active: 0,
  appetite: 1_000,
  draining: false,
  hinted: true,
  ownTurn: true,
};

/** A worker without code. */
export class Hands {
  readonly session: string;
  readonly #claims: StoreClaims;
  readonly #slots: number;
  /** The claims it holds. */
  readonly held: Claimed[] = [];

  private constructor(store: Store, session: string, slots: number, tasks: readonly string[]) {
    this.session = session;
    this.#slots = slots;
    const seat = { name: session, slots, prefetch: 0, claimLeaseMs: 60_000, queues: ["default"], tasks };
    this.#claims = new StoreClaims(store, seat);
  }

  static async open(
    store: Store,
    { slots = 1_000, tasks = ["work"], leaseMs = 600_000 } = {},
  ): Promise<Hands> {
    const hands = new Hands(store, env.newId(), slots, tasks);
    await hands.#claims.open(hands.session, leaseMs);
    return hands;
  }

  /** Claims as much as it can, in as many passes as needed, and returns the inputs. */
  async take(appetite = this.#slots): Promise<unknown[]> {
    const before = this.held.length;
    for (let more = true; more && this.held.length - before < appetite; )
      more = await this.#exchange([], appetite - (this.held.length - before));
    return this.held.slice(before).map(({ input }) => JSON.parse(input));
  }

  /**
   * One pass: reports these, claims up to `appetite` others in the same transaction, and returns their
   * inputs.
   */
  async swap(
    done: readonly Claimed[],
    { to = "succeeded" as "succeeded" | "failed", appetite = 0 } = {},
  ): Promise<unknown[]> {
    const kept = this.held.length - done.filter((claim) => this.held.includes(claim)).length;
    await this.#exchange(
      done.map((claim) => ({
        id: claim.id,
        epoch: claim.epoch,
        to,
        body: to === "succeeded" ? claim.input : '{"name":"Error","message":"no luck"}',
        delayMs: 0,
        news: newsOfStep(claim, to === "succeeded"),
      })),
      appetite,
    );
    return this.held.slice(kept).map(({ input }) => JSON.parse(input));
  }

  /** Reports that the unit is to be retried after `delayMs`. */
  async retry(claim: Claimed, delayMs: number): Promise<void> {
    await this.#exchange([{ id: claim.id, epoch: claim.epoch, to: "retry", body: "{}", delayMs }], 0);
  }

  /** Reports that the process that ran the unit has died. */
  async crashed(claim: Claimed): Promise<void> {
    await this.#exchange([revocation(claim, { name: "Error", message: "died" }, Date.now())], 0);
  }

  /** Dies with everything it holds: its later reports come too late. */
  async die(store: Store): Promise<void> {
    await store.closeSession(this.session);
  }

  /** Drops claims that it has lost, reports that their code has stopped, and returns their inputs. */
  async dropStale(): Promise<unknown[]> {
    const gone = new Set(await this.#claims.stale(this.held));
    const dropped = this.held.filter(({ id }) => gone.has(id));
    await this.#exchange(
      dropped.map(({ id, epoch }) => ({ id, epoch, to: "stopped" as const })),
      0,
    );
    return dropped.map(({ input }) => JSON.parse(input));
  }

  /** The claim it holds for the item with this input. */
  claimOf(input: unknown): Claimed {
    const found = this.held.find((claim) => claim.input === JSON.stringify(input));
    if (!found) throw new Error(`${this.session} does not hold ${JSON.stringify(input)}`);
    return found;
  }

  async #exchange(finished: Report["finished"], appetite: number): Promise<boolean> {
    const gone = new Set(finished.map(({ id }) => id));
    const active = Math.max(0, this.held.length - gone.size);
    const report = { ...CALM, finished, active, appetite, draining: appetite === 0 };
    const { claimed, refused, more } = await this.#claims.exchange(report);
    if (refused.length > 0) throw new Error(`refused: ${refused}`);
    this.#forget(gone);
    this.held.push(...claimed);
    return more;
  }

  #forget(gone: ReadonlySet<string>): void {
    this.held.splice(0, this.held.length, ...this.held.filter(({ id }) => !gone.has(id)));
  }
}

export async function stepRow(store: Store, run: string, name: string): Promise<StepRow> {
  const step = (await store.run(run))?.steps.find((each) => each.name === name);
  if (!step) throw new Error(`run ${run} has no step ${name} yet`);
  return step;
}

export async function countsOf(store: Store, run: string, name: string): Promise<ItemCounts> {
  return (await stepRow(store, run, name)).items as ItemCounts;
}
