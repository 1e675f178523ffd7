/**
 * Wake-ups by NOTIFY: only hints, never facts. They are sent after the commit in a statement of their own,
 * the first at once and then at most one every ten milliseconds, because a notifying commit takes an
 * instance-wide lock. Behind a pooler in transaction mode, hints can be sent but not received: there the poll
 * finds the work.
 */

import pg from "pg";
import type { Hear, Hint } from "../../core/hint.ts";
import { ALL_HINTS, isHint } from "../../core/hint.ts";
import type { Cancel } from "../../env/env.ts";
import { after } from "../../env/timers.ts";
import type { Access } from "./settings.ts";

const CHANNEL = "sluice";
const COALESCE_MS = 10;
const RECONNECT_MS = 1_000;

type Query = (text: string, values: unknown[]) => Promise<unknown>;

export class Notices {
  readonly #query: Query;
  readonly #access: Access;
  readonly #isPooled: () => Promise<boolean>;
  readonly #listeners = new Set<Hear>();
  readonly #pending = new Set<string>();
  readonly #underway = new Set<Promise<unknown>>();
  #client: pg.Client | undefined;
  #telling: Cancel | undefined;
  #reconnect: Cancel | undefined;
  #closed = false;

  constructor(query: Query, access: Access, isPooled: () => Promise<boolean>) {
    this.#query = query;
    this.#access = access;
    this.#isPooled = isPooled;
  }

  async listen(hear: Hear): Promise<() => Promise<void>> {
    this.#listeners.add(hear);
    if (!this.#client) await this.#connect();
    return async () => {
      this.#listeners.delete(hear);
    };
  }

  tell(hint: Hint): void {
    for (const hear of this.#listeners) hear(hint);
    if (this.#closed) return;
    this.#pending.add(hint);
    if (!this.#telling) this.#send();
  }

  #send(): void {
    const payload = [...this.#pending].join(",");
    this.#pending.clear();
    this.#telling = after(COALESCE_MS, () => {
      this.#telling = undefined;
      if (this.#pending.size > 0) this.#send();
    });
    const sending: Promise<unknown> = this.#query("SELECT pg_notify($1, $2)", [CHANNEL, payload])
      .catch(() => {})
      .finally(() => this.#underway.delete(sending));
    this.#underway.add(sending);
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({ ...this.#access, keepAlive: true });
    this.#client = client;
    const lost = (): void => {
      if (this.#client !== client || this.#closed) return;
      this.#client = undefined;
      client.end().catch(() => {});
      this.#reconnect = after(RECONNECT_MS, () => void this.#connect());
    };
    client.on("error", lost);
    client.on("end", lost);
    client.on("notification", ({ payload }) => {
      const hints = (payload ?? "").split(",").filter(isHint);
      for (const hint of hints) for (const hear of this.#listeners) hear(hint);
    });
    try {
      if ((await this.#isPooled()) || this.#closed) {
        this.#client = undefined;
        return;
      }
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      // Any hint may have been missed while we were not connected.
      for (const hint of ALL_HINTS) for (const hear of this.#listeners) hear(hint);
    } catch {
      lost();
    }
  }

  /**
   * Pending hints are sent first: if a process cancels something and exits, no other process would announce
   * it.
   */
  async close(): Promise<void> {
    if (this.#pending.size > 0) this.#send();
    this.#closed = true;
    this.#telling?.();
    await Promise.all(this.#underway);
    this.#reconnect?.();
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }
}
