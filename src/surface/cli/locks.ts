/** `sluice locks list|info|set|release` */
import type { Command } from "commander";
import type { LockInfo, LockView, LockWaiter } from "../../api/locks.ts";
import { sayStopping } from "../../core/gate/describe.ts";
import { gateTitle } from "../../core/gate/kind.ts";
import { isSharedLock } from "../../core/shared/lock.ts";
import { withBy } from "./common.ts";
import type { ListOptions } from "./idle.ts";
import { leftOut, listed, withFilter } from "./idle.ts";
import { limitNumber } from "./numbers.ts";
import { print } from "./output.ts";
import { ago, count, sayLimit } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { toPaste, whoever } from "./settings.ts";
import { releaseShared, setShared, sharedInfo, sharedList, sharedTable } from "./shared-locks.ts";
import type { Cell } from "./table.ts";
import { fields, table } from "./table.ts";
import { colours, safe } from "./text.ts";
import { withStore } from "./with-store.ts";

type By = GlobalOptions & { readonly by?: string };

const LOCK =
  "the lock, like mutex:default/nightly; nightly alone means the namespace default. mtx/… and sem/… are shared with other engines";

export function addLocks(program: Command): void {
  const locks = program
    .command("locks")
    .description("see mutexes and semaphores, set their limits, and release them");
  withFilter(locks.command("list"), "mutex:, semaphore:default/")
    .description("the mutexes and semaphores: their limits, holders and waiting units")
    .action((prefix: string | undefined, _, command: Command) =>
      listLocks(prefix ?? "", command.optsWithGlobals()),
    );
  locks
    .command("info")
    .description("one lock: who holds it, and the whole line of those who wait for it")
    .argument("<lock>", LOCK)
    .action((name: string, _, command: Command) =>
      (isSharedLock(name) ? sharedInfo : info)(name, command.optsWithGlobals()),
    );
  withBy(locks.command("set"), "changes it")
    .description(
      "set the limit of a semaphore; it applies until it is reset or a watched file says something new",
    )
    .argument("<lock>", LOCK)
    .argument("<limit>", "1 or more, 0 to pause, -1 for unlimited; lowering it evicts no holder", limitNumber)
    .action((name: string, limit: number, _, command: Command) =>
      (isSharedLock(name) ? setShared : setLock)(name, limit, command.optsWithGlobals()),
    );
  withBy(locks.command("release"), "releases it")
    .description("take a lock from its holder: a run fails, a task is cancelled, and its code is aborted")
    .argument("<lock>", LOCK)
    .option("--holder <id>", "the run or task that holds it; needed if there are several")
    .option("--controller <name>", "for a lock that engines share: the controller of the holder")
    .action((name: string, _, command: Command) =>
      (isSharedLock(name) ? releaseShared : release)(name, command.optsWithGlobals()),
    );
}

function listLocks(prefix: string, options: ListOptions): Promise<void> {
  return withStore(options, async (sluice) => {
    const [all, shared] = await Promise.all([sluice.locks.list(), sharedList(sluice, prefix)]);
    const { shown, idle } = listed(all, options, ({ key }) => key.startsWith(prefix), isIdle);
    const below = sharedTable(shared);
    print(options, [...shown, ...shared], () => {
      const rest = leftOut(idle, "lock", options, "locks list");
      if (shown.length === 0 && idle > 0) return rest.trimStart() + below;
      if (shown.length === 0)
        return (
          below.trimStart() || (prefix === "" ? "No locks yet." : `No lock begins with "${safe(prefix)}".`)
        );
      const rows = shown.map((lock) => [
        lock.key,
        limitCell(lock),
        heldCell(lock),
        String(lock.waiting),
        lock.source,
      ]);
      return `${table(["lock", "limit", "held", "waiting", "source"], rows)}${rest}${below}`;
    });
  });
}

/** A mutex that nobody uses. */
const isIdle = ({ source, held, waiting, paused }: LockView): boolean =>
  source === "default" && held === 0 && waiting === 0 && !paused;

function limitCell({ limit, paused }: LockView): Cell {
  if (limit === null) return { text: "unset", style: colours.red };
  const isPaused = paused || limit === 0;
  return {
    text: `${sayLimit(limit)}${isPaused ? " paused" : ""}`,
    style: isPaused ? colours.yellow : undefined,
  };
}

const heldCell = ({ held, draining }: LockView): Cell =>
  draining ? { text: `${held} draining`, style: colours.yellow } : { text: String(held) };

function info(name: string, options: GlobalOptions): Promise<void> {
  return withStore(options, async (sluice) => {
    const [lock, now] = await Promise.all([sluice.locks.info(name), sluice.now()]);
    print(options, lock, () => [about(lock), holdersOf(lock, now), lineText(lock.line, now)].join("\n"));
  });
}

const about = (lock: LockInfo): string =>
  fields([
    ["lock", lock.key],
    ["limit", limitCell(lock)],
    ["source", lock.source],
    ["held", heldCell(lock)],
    ["waiting", String(lock.waiting)],
  ]);

function holdersOf({ holders }: LockInfo, now: number): string {
  if (holders.length === 0) return "Nobody holds it.\n";
  const rows = holders.map(({ id, name, run, step, slots, claimedAt, stopping }) => [
    id,
    step === null ? name : `${step} of run ${run}`,
    String(slots),
    `${ago(claimedAt, now)}${stopping ? `, ${sayStopping(stopping, now)}` : ""}`,
  ]);
  return table(["holder", "", "slots", "since"], rows);
}

/** The whole line of a lock, in the order in which they come. */
export function lineText(line: readonly LockWaiter[], now: number): string {
  if (line.length === 0) return "Nobody waits for it.\n";
  const rows = line.map(({ id, name, slots, priority, at, skips }, index) => [
    String(index + 1),
    id,
    name,
    String(slots),
    String(priority),
    ago(at, now),
    skips ? "lets others pass" : "",
  ]);
  return table(["#", "waits", "", "slots", "priority", "since", ""], rows);
}

function setLock(name: string, limit: number, options: By): Promise<void> {
  return withStore(options, async (sluice) => {
    const { from } = await sluice.locks.set(name, limit, whoever(options.by));
    const { holders: _, line: __, ...lock } = await sluice.locks.info(name);
    print(options, { ...lock, from }, () => {
      const drains = lock.draining ? ` ${count(lock.held, "slot")} still held; it drains.` : "";
      return `${gateTitle(lock.key)}: ${sayLimit(from)} → ${sayLimit(lock.limit)}.${drains}${lock.waiting > 0 ? ` ${count(lock.waiting, "unit")} waiting.` : ""}`;
    });
  });
}

function release(name: string, options: By & { readonly holder?: string }): Promise<void> {
  return withStore(options, async (sluice) => {
    const { holder, by } = options;
    const released = await sluice.locks.release(name, {
      by: whoever(by),
      ...(holder === undefined ? {} : { holder }),
    });
    print(options, released, () => {
      const { id, run, step } = released.holder;
      const who = step === null ? id : `step "${step}" of run ${run}`;
      const again = toPaste(options, `locks info ${released.key}`);
      return `${gateTitle(released.key)} is taken from ${who}, which is aborted. The lock is free when its code has ended. See: ${again}`;
    });
  });
}
