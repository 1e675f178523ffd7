/** `sluice locks` for locks that several engines share: those whose names begin with mtx/ or sem/. */
import type { SharedLockInfo, SharedLockView } from "../../api/shared-locks.ts";
import type { Sluice } from "../../api/sluice.ts";
import { SluiceError } from "../../core/error.ts";
import type { SharedRow } from "../../core/shared/line.ts";
import { print } from "./output.ts";
import { ago, count, sayLimit } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { table } from "./table.ts";
import { colours } from "./text.ts";
import { UsageError } from "./usage-error.ts";
import { withStore } from "./with-store.ts";

type ReleaseOptions = GlobalOptions & { readonly holder?: string; readonly controller?: string };

/** The shared locks as rows below the local ones. Nothing if the command names no sync database. */
export async function sharedList(sluice: Sluice, prefix: string): Promise<readonly SharedLockView[]> {
  const all = await sluice.shared.list().catch((error: unknown) => {
    if (error instanceof SluiceError && error.code === "SYNC_NOT_CONFIGURED") return [];
    throw error;
  });
  return all.filter(({ lock }) => lock.startsWith(prefix));
}

export function sharedTable(all: readonly SharedLockView[]): string {
  if (all.length === 0) return "";
  const rows = all.map(({ lock, limit, held, waiting }) => [
    lock,
    limit === null ? { text: "unset", style: colours.red } : { text: sayLimit(limit) },
    String(held),
    String(waiting),
  ]);
  return `\n${table(["shared lock", "limit", "held", "waiting"], rows)}`;
}

export function sharedInfo(lock: string, options: GlobalOptions): Promise<void> {
  return withStore(options, async ({ shared }) => {
    const seen = await shared.info(lock);
    print(options, seen, () => story(seen));
  });
}

function story({ lock, limit, held, holders, line, now }: SharedLockInfo): string {
  const head = `${colours.bold(lock)}: ${held} of ${limit === null ? "an unset limit" : sayLimit(limit)} held\n`;
  const row = ({ key, controller, priority, at, live }: SharedRow) => [
    key,
    live ? { text: controller } : { text: `${controller} (inactive)`, style: colours.red },
    String(priority),
    ago(at, now),
  ];
  const columns = ["run", "controller", "priority", "created"];
  const holding = holders.length > 0 ? `\nHeld by\n${table(columns, holders.map(row))}` : "";
  const waiting = line.length > 0 ? `\nIn line\n${table(columns, line.map(row))}` : "";
  return `${head}${holding}${waiting}`;
}

export function setShared(lock: string, limit: number, options: GlobalOptions): Promise<void> {
  return withStore(options, async ({ shared }) => {
    const { limit: from } = await shared.info(lock);
    await shared.setLimit(lock, limit);
    print(options, { lock, from, limit }, () => `${lock}: ${sayLimit(from)} → ${sayLimit(limit)}.`);
  });
}

export function releaseShared(lock: string, options: ReleaseOptions): Promise<void> {
  const { holder, controller } = options;
  if ((holder === undefined) !== (controller === undefined))
    throw new UsageError("give --holder and --controller together, as `locks info` shows them");
  return withStore(options, async ({ shared }) => {
    const only = holder !== undefined && controller !== undefined ? { key: holder, controller } : undefined;
    const released = await shared.release(lock, only);
    print(options, { lock, released }, () =>
      released === 0
        ? `${lock} is not held${only ? " by that run" : ""}.`
        : `${lock} is released: ${count(released, "holder")}. Each of them is ended by its own engine.`,
    );
  });
}
