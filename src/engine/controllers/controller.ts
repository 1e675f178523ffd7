/**
 * A controller: this engine, as one of several that share locks. Each worker process has one, and one of them
 * leads: it alone speaks to the sync database for the whole engine. If it dies, another process leads once
 * its lease has run out, and frees what the dead one took for runs that were not admitted.
 */
import { SluiceError } from "../../core/error.ts";
import type { Env } from "../../env/env.ts";
import type { Store } from "../../store/store.ts";
import type { Speaker, SyncDatabase } from "../../store/sync/port.ts";
import { handlerOf } from "../claiming/handler.ts";
import type { Polling } from "../loop.ts";
import { Loop } from "../loop.ts";
import type { Service } from "../service.ts";
import type { RoundEnd } from "./round.ts";
import { round } from "./round.ts";

interface ControllerOptions extends Polling {
  readonly controller: string;
  readonly heartbeatMs: number;
  /** How long this process leads without a sign of life. */
  readonly leaseMs: number;
  /** Called with the gates that have opened. */
  readonly opened: (gates: readonly string[]) => void;
}

/** Several reasons to look may come together. */
const PAUSE_MS = 20;

export class Controller implements Service {
  readonly #store: Store;
  readonly #sync: SyncDatabase;
  readonly #env: Env;
  readonly #options: ControllerOptions;
  readonly #loop: Loop;
  readonly #speaker: Speaker;
  #joined: { readonly offsetMs: number } | undefined;
  #unsure = true;
  #heardAt = 0;
  #asked = false;
  #unlisten: (() => Promise<void>) | undefined;

  constructor(store: Store, sync: SyncDatabase, env: Env, options: ControllerOptions) {
    this.#store = store;
    this.#sync = sync;
    this.#env = env;
    this.#options = options;
    this.#speaker = { controller: options.controller, instance: env.newId() };
    this.#loop = new Loop(env, options, () => this.#look());
  }

  /** Refused if another live engine has the name. A sync database that is away does not keep a worker from starting. */
  async start(): Promise<void> {
    await this.#lookOnce().catch((error: unknown) => {
      if (error instanceof SluiceError && error.code === "CONTROLLER_TAKEN") throw error;
      this.#options.failed?.(error);
    });
    this.#unlisten = await this.#store.listen((hint) => {
      if (hint === "runs") this.wake();
    });
    await this.#loop.start();
  }

  async stop(): Promise<void> {
    await this.#unlisten?.();
    await this.#loop.stop();
    // Another process of this engine leads at once.
    if (this.#joined) await this.#store.lead(this.#speaker.instance, 0, "").catch(() => {});
    await this.#sync.close();
  }

  /** A run was submitted or has ended. */
  wake(): void {
    if (this.#asked) return;
    this.#asked = true;
    this.#env.after(PAUSE_MS, () => {
      this.#asked = false;
      this.#loop.wake();
    });
  }

  async #look(): Promise<number | undefined> {
    return (await this.#lookOnce()) === "inactive" ? 0 : undefined;
  }

  async #lookOnce(): Promise<RoundEnd> {
    const leading = await this.#store.lead(this.#speaker.instance, this.#options.leaseMs, this.#env.newId());
    if (!leading.leads) {
      this.#joined = undefined;
      return "idle";
    }
    try {
      this.#joined ??= await this.#join(leading.engine);
      await this.#beat();
      const end = await this.#round(this.#joined.offsetMs);
      if (end === "replaced") this.#joined = undefined;
      this.#unsure = end !== "idle";
      if (end === "inactive") this.#heardAt = Number.NEGATIVE_INFINITY;
      return end;
    } catch (error) {
      this.#unsure = true;
      throw error;
    }
  }

  async #join(engine: string): Promise<{ readonly offsetMs: number }> {
    const { controller } = this.#speaker;
    await this.#sync.create();
    const joined = await this.#sync.join({ ...this.#speaker, engine });
    if (!joined.joined)
      throw new SluiceError(
        "CONTROLLER_TAKEN",
        `Another live engine is the controller "${controller}" in the sync database; it was heard ${joined.heardMsAgo} ms ago. Give each engine its own controllerName.`,
      );
    this.#heardAt = this.#env.monotonic();
    this.#unsure = true;
    return { offsetMs: joined.now - (await this.#store.now()) };
  }

  async #beat(): Promise<void> {
    const now = this.#env.monotonic();
    if (now - this.#heardAt < this.#options.heartbeatMs) return;
    if (await this.#sync.heartbeat(this.#speaker)) this.#heardAt = now;
    else this.#joined = undefined;
  }

  #round(offsetMs: number): Promise<RoundEnd> {
    if (!this.#joined) return Promise.resolve("replaced");
    return round({
      store: this.#store,
      sync: this.#sync,
      speaker: this.#speaker,
      offsetMs,
      unsure: this.#unsure,
      abort: (unit) => this.#abort(unit),
      opened: this.#options.opened,
    });
  }

  async #abort(unit: string): Promise<void> {
    const message =
      "A lock that this run shares with other engines was released by hand while the run held it.";
    const body = JSON.stringify({ name: "Error", code: "LOCK_RELEASED", message });
    const run = await this.#store.task(unit);
    const handler = run && handlerOf(run, { to: "failed", body }, () => this.#env.newId());
    if (!(await this.#store.failRun(unit, body, handler))) return;
    this.#store.hint("cancel");
    this.#store.hint("runs");
    if (handler) this.#store.hint("work");
  }
}
