/** `sluice pools list|info|set` */
import type { Command } from "commander";
import type { PoolInfo, PoolView } from "../../api/pools.ts";
import { sayStopping } from "../../core/gate/describe.ts";
import { ANY, parseKey, poolKey } from "../../core/gate/key.ts";
import { formatDuration } from "../../core/time.ts";
import type { GateHolder } from "../../store/store.ts";
import { withBy } from "./common.ts";
import type { ListOptions } from "./idle.ts";
import { leftOut, listed, withFilter } from "./idle.ts";
import { consequence, newNote } from "./limits.ts";
import { limitNumber } from "./numbers.ts";
import { print } from "./output.ts";
import { ago, count, sayLimit } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { toPaste, whoever } from "./settings.ts";
import type { Cell, TableRow } from "./table.ts";
import { fields, table } from "./table.ts";
import { colours, safe } from "./text.ts";
import { withStore } from "./with-store.ts";

type SetOptions = GlobalOptions & { readonly lease?: string; readonly by?: string; readonly new?: boolean };

export function addPools(program: Command): void {
  const pools = program.command("pools").description("see and set pools, and see who holds their slots");
  withFilter(pools.command("list"), "gpu, tenant=")
    .description("the pools: their limits, claimed slots, waiting steps and tasks, and their leases")
    .action((prefix: string | undefined, _, command: Command) =>
      listPools(prefix ?? "", command.optsWithGlobals()),
    );
  pools
    .command("info")
    .description("one pool: who holds its slots, since when, and when each lease expires")
    .argument("<pool>", "the pool, as in the list")
    .action((name: string, _, command: Command) => info(name, command.optsWithGlobals()));
  withBy(pools.command("set"), "changes it")
    .description("set a pool's limit, and optionally its lease; it survives restarts until it is reset")
    .argument("<pool>", "the pool; it is created if it is new")
    .argument(
      "<limit>",
      "1 or more, 0 to pause, -1 for unlimited; lowering it never stops running work",
      limitNumber,
    )
    .option("--new", "create the pool although its name resembles another one")
    .option("--lease <duration>", 'how long a slot is held without being renewed, like "5m"')
    .action((name: string, limit: number, _, command: Command) =>
      setPool(name, limit, command.optsWithGlobals()),
    );
}

function listPools(prefix: string, options: ListOptions): Promise<void> {
  return withStore(options, async (sluice) => {
    const all = await sluice.pools.list();
    const { shown: pools, idle } = listed(all, options, ({ name }) => name.startsWith(prefix), isIdle);
    print(options, pools, () => {
      const rest = leftOut(idle, "pool", options, "pools list");
      if (pools.length === 0 && idle > 0) return rest.trimStart();
      if (pools.length === 0 && prefix !== "") return `No pool begins with "${safe(prefix)}".`;
      if (pools.length === 0)
        return `No pools yet. Apps declare them; to create one: ${toPaste(options, "pools set NAME LIMIT")}`;
      return `${table(["pool", "limit", "claimed", "pending", "lease"], pools.map(row))}${rest}`;
    });
  });
}

/** Its family says all there is to say of it. */
const isIdle = ({ perValue, claimed, pending, paused }: PoolView): boolean =>
  perValue && claimed === 0 && pending === 0 && !paused;

const row = (pool: PoolView): TableRow => [
  pool.name,
  limitCell(pool),
  claimedCell(pool),
  String(pool.pending),
  sayLease(pool),
];

/** True for the gate that holds the limit of each value. */
const isFamily = ({ name }: PoolView): boolean => parseKey(poolKey(name)).value === ANY;

function limitCell(pool: PoolView): Cell {
  const { limit, paused } = pool;
  if (limit === null) return { text: "unset", style: colours.red };
  if (isFamily(pool)) return { text: `${sayLimit(limit)} each` };
  const isPaused = paused || limit === 0;
  return {
    text: `${sayLimit(limit)}${isPaused ? " paused" : ""}`,
    style: isPaused ? colours.yellow : undefined,
  };
}

function claimedCell(pool: PoolView): Cell {
  if (isFamily(pool)) return { text: "-" };
  const { claimed, draining } = pool;
  return draining ? { text: `${claimed} draining`, style: colours.yellow } : { text: String(claimed) };
}

const sayLease = ({ leaseMs }: PoolView): string => (leaseMs === null ? "-" : formatDuration(leaseMs));

function info(name: string, options: GlobalOptions): Promise<void> {
  return withStore(options, async (sluice) => {
    const [pool, now] = await Promise.all([sluice.pools.info(name), sluice.now()]);
    print(options, pool, () => `${about(pool)}\n${holdersOf(pool, now)}${waitersOf(pool, now)}`);
  });
}

function about(pool: PoolInfo): string {
  return fields([
    ["pool", pool.name],
    ["limit", limitCell(pool)],
    ["claimed", claimedCell(pool)],
    ["pending", String(pool.pending)],
    ["lease", sayLease(pool)],
  ]);
}

function holdersOf({ holders }: PoolInfo, now: number): string {
  if (holders.length === 0) return "No slots are held.\n";
  return table(
    ["run", "step", "slots", "claimed", "lease expires"],
    holders.map((holder) => [
      holder.run ?? "-",
      holder.step ?? `${holder.program ? "program" : "task"} ${holder.name} ${holder.id}`,
      String(holder.slots),
      `${ago(holder.claimedAt, now)}${holder.stopping ? `, ${sayStopping(holder.stopping, now)}` : ""}`,
      expiry(holder),
    ]),
  );
}

/** Programs that wait. Tasks and steps in line are those that `queue` and `tasks` list. */
function waitersOf({ waiters }: PoolInfo, now: number): string {
  if (waiters.length === 0) return "";
  const rows = waiters.map(({ id, name, slots, at }) => [`${name} ${id}`, String(slots), ago(at, now)]);
  return `\n${table(["waiting program", "slots", "since"], rows)}`;
}

/** A lease is renewed in time as long as its worker lives. */
function expiry({ leaseLeftMs }: GateHolder): Cell {
  if (leaseLeftMs === null) return { text: "with its worker" };
  return leaseLeftMs > 0 ? { text: ago(leaseLeftMs, 0) } : { text: "expired", style: colours.red };
}

function setPool(name: string, limit: number, options: SetOptions): Promise<void> {
  return withStore(options, async (sluice) => {
    const isKnown = await sluice.limits.isKnown(poolKey(name));
    const { lease, by } = options;
    const { from } = await sluice.pools.set(name, limit, {
      by: whoever(by),
      isNew: options.new ?? false,
      ...(lease === undefined ? {} : { lease }),
    });
    const { holders: _, waiters: __, ...pool } = await sluice.pools.info(name);
    print(options, { ...pool, from }, () => {
      const change = `pool ${name}: ${sayLimit(from)} → ${sayLimit(pool.limit)}${pool.leaseMs === null ? "" : `, lease ${sayLease(pool)}`}`;
      const { claimed, pending } = pool;
      return `${change}${consequence({ ...pool, held: claimed }) || "."}${pending > 0 ? ` ${count(pending, "unit")} waiting.` : ""}${isKnown ? "" : newNote(poolKey(name), options)}`;
    });
  });
}
