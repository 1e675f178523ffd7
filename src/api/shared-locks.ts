/** Locks that several engines share, as people see and change them. They are in the sync database, not in the store. */

import { SluiceError } from "../core/error.ts";
import { checkLimitNumber } from "../core/shared/limit.ts";
import type { SharedRow, SharedView } from "../core/shared/line.ts";
import { limitOf, lineAt } from "../core/shared/line.ts";
import { isSharedLock, limitNameOf } from "../core/shared/lock.ts";
import { checkText, shortly } from "../core/text.ts";
import type { ControllerRow } from "../store/sync/port.ts";
import type { OptionNames } from "./call-options.ts";
import { knownOptions } from "./call-options.ts";
import type { SharedAccess } from "./shared-access.ts";

export interface SharedLockView {
  /** `mtx/NAMESPACE/KEY` or `sem/NAMESPACE/KEY`. */
  readonly lock: string;
  /** Null if nobody has set the limit of a semaphore. */
  readonly limit: number | null;
  readonly held: number;
  readonly waiting: number;
}

export interface SharedLockInfo extends SharedLockView {
  readonly holders: readonly SharedRow[];
  /** The whole line, in order. */
  readonly line: readonly SharedRow[];
  readonly now: number;
}

/** A unit that holds a lock, as a look at the lock shows it. */
interface SharedHolder {
  readonly key: string;
  readonly controller: string;
}

export class SharedLocks {
  readonly #access: SharedAccess;

  constructor(access: SharedAccess) {
    this.#access = access;
  }

  /** Every lock that is held or waited for, and every semaphore with a limit. */
  async list(): Promise<SharedLockView[]> {
    const view = await (await this.#access.sync()).look();
    const names = new Set([
      ...view.rows.map(({ name }) => name),
      ...[...view.limits.keys()].map((name) => `sem/${name}`),
    ]);
    return [...names].sort().map((lock) => viewOf(view, lock));
  }

  async info(lock: string): Promise<SharedLockInfo> {
    mustBeLock(lock);
    const view = await (await this.#access.sync()).look([lock]);
    const holders = view.rows.filter((row) => row.name === lock && row.held);
    return { ...viewOf(view, lock), holders, line: lineAt(view, lock), now: view.now };
  }

  /** Sets the limit of a semaphore; null removes it, and then it admits nobody. */
  async setLimit(lock: string, limit: number | null): Promise<void> {
    mustBeLock(lock);
    const name = limitNameOf(lock);
    if (name === undefined)
      throw new SluiceError("BAD_LIMIT", `${lock} is a mutex: its limit is always 1. Use a semaphore.`);
    checkLimitNumber(lock, limit);
    await (await this.#access.sync()).setLimit(name, limit);
  }

  /**
   * Frees a lock by hand. Its holder is ended by its own engine, at once if that is alive. Returns how many
   * holders there were.
   */
  async release(lock: string, holder?: SharedHolder): Promise<number> {
    mustBeLock(lock);
    if (holder !== undefined) mustBeHolder(holder);
    return (await this.#access.sync()).releaseByHand(lock, holder);
  }

  async controllers(): Promise<readonly ControllerRow[]> {
    return (await this.#access.sync()).controllers();
  }

  async now(): Promise<number> {
    return (await this.#access.sync()).now();
  }

  /** Removes an inactive controller with everything it holds. A live one is refused. */
  async removeController(name: string): Promise<{ readonly held: number; readonly pending: number }> {
    checkText("The name of a controller", name);
    const sync = await this.#access.sync();
    if (!(await sync.controllers()).some((each) => each.name === name))
      throw new SluiceError("UNKNOWN_CONTROLLER", `No controller is named "${name}".`, {
        remedies: [{ action: "listControllers" }],
      });
    const removed = await sync.removeController(name);
    if (!removed)
      throw new SluiceError(
        "CONTROLLER_ALIVE",
        `The controller "${name}" is alive. Stop its workers first, and wait until it is inactive.`,
      );
    return removed;
  }
}

function mustBeHolder(holder: SharedHolder): void {
  const { key, controller } = knownOptions("shared.release", holder, OF_HOLDER);
  checkText("The ID of a holder", key);
  checkText("The name of a controller", controller);
}

const OF_HOLDER: OptionNames<SharedHolder> = { key: true, controller: true };

function mustBeLock(lock: string): void {
  if (typeof lock === "string" && isSharedLock(lock)) return;
  throw new SluiceError(
    "BAD_LOCK",
    `${shortly(lock)} is not a lock that engines share. Write mtx/NAMESPACE/NAME or sem/NAMESPACE/NAME.`,
  );
}

function viewOf(view: SharedView, lock: string): SharedLockView {
  const held = view.rows.reduce((sum, row) => sum + (row.name === lock && row.held ? row.slots : 0), 0);
  return { lock, limit: limitOf(view, lock), held, waiting: lineAt(view, lock).length };
}
