/** The way of a program to the sync database, and why a unit lacks its shared locks. */
import type { AppSync } from "../core/app/sync.ts";
import { SluiceError } from "../core/error.ts";
import type { Reason } from "../core/gate/reason.ts";
import { unitOfSharedGate } from "../core/shared/lock.ts";
import { sharedReasons } from "../core/shared/reasons.ts";
import { storedOptions } from "../core/unit-options.ts";
import type { TaskRow } from "../store/store.ts";
import { openSync } from "../store/sync/open.ts";
import type { SyncDatabase } from "../store/sync/port.ts";

/** How the sync database is reached. `controller` is this engine's own name, if known. */
export type SyncAccess = Pick<AppSync, "url" | "inactiveMs" | "tables"> & { readonly controller?: string };

export class SharedAccess {
  readonly #access: SyncAccess | undefined;
  #opened: Promise<SyncDatabase> | undefined;

  constructor(access: SyncAccess | undefined) {
    this.#access = access;
  }

  /** Whether this program knows a sync database. */
  get isKnown(): boolean {
    return this.#access !== undefined;
  }

  /** The reasons of a unit, with those of the sync database in the place of its closed gate. */
  async explain(
    task: Pick<TaskRow, "id" | "options">,
    reasons: readonly Reason[],
  ): Promise<readonly Reason[]> {
    const closed = reasons.find((reason) => "gate" in reason && unitOfSharedGate(reason.gate) === task.id);
    if (!closed) return reasons;
    const instead = await this.#instead(task);
    return reasons.flatMap((reason) => (reason === closed ? instead : [reason]));
  }

  async #instead({ id, options }: Pick<TaskRow, "id" | "options">): Promise<readonly Reason[]> {
    const locks = (storedOptions(options).shared ?? []).map(([name]) => name);
    const shared = { kind: "shared", locks } as const;
    if (!this.#access) return [{ ...shared, because: "unknown" }];
    try {
      const view = await (await this.sync()).look(locks);
      const { controller = view.rows.find(({ key }) => key === id)?.controller } = this.#access;
      const found = controller === undefined ? undefined : sharedReasons(view, { key: id, controller });
      return found === undefined || found.length === 0 ? [{ ...shared, because: "soon" }] : found;
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code !== "SYNC_UNREACHABLE") throw error;
      return [{ ...shared, because: "away", error: error.sentence }];
    }
  }

  async close(): Promise<void> {
    await (await this.#opened?.catch(() => undefined))?.close();
  }

  sync(): Promise<SyncDatabase> {
    if (!this.#access)
      throw new SluiceError(
        "SYNC_NOT_CONFIGURED",
        "No sync database is known here, so locks that engines share cannot be seen. Connect with the app that has a sync section, or name the database.",
      );
    this.#opened ??= openSync(this.#access);
    return this.#opened;
  }
}
