// Random command lists give the same answers and leave the same state on all stores. The memory store is the
// oracle.

import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { openMemory } from "../../src/store/memory/index.ts";
import { openMysql } from "../../src/store/mysql/index.ts";
import { openPostgres } from "../../src/store/postgres/index.ts";
import { openSqlite } from "../../src/store/sqlite/index.ts";
import type { Store } from "../../src/store/store.ts";
import { FakeClock, sqliteTimeOf } from "../../src/testing/index.ts";
import { asTold, bySubject, everything, heardSince, told } from "../feed/heard.ts";
import {
  describeWithMariadb,
  describeWithPostgres,
  freshMariadb,
  freshPostgres,
  freshSqlite,
} from "../support/databases.ts";
import type { Command } from "./commands.ts";
import { commandList } from "./commands.ts";
import { Player } from "./player.ts";
import type { Aside, Row } from "./tables.ts";
import { besideMariadb, besidePostgres, besideSqlite, emptyTables, TABLES } from "./tables.ts";

interface Subject {
  readonly store: Store;
  readonly aside: Aside;
}

/** SLUICE_LISTS=20 plays twenty times as many lists. */
const MORE = Number(process.env.SLUICE_LISTS ?? 1);

/** One clock for all stores and all lists. It only moves forward. */
const clock = new FakeClock();
const opened: Subject[] = [];
afterAll(async () => {
  for (const { store, aside } of opened) {
    await aside.close();
    await store.close();
  }
});

async function subject(store: Store, beside: () => Promise<Aside>): Promise<Subject> {
  await store.migrate();
  const found = { store, aside: await beside() };
  opened.push(found);
  return found;
}

const onSqlite = async (): Promise<Subject> => {
  const path = await freshSqlite();
  return subject(await openSqlite(path, sqliteTimeOf(clock)), () => besideSqlite(path));
};
const onPostgres = async (): Promise<Subject> => {
  const url = await freshPostgres();
  return subject(openPostgres({ url, now: clock.now }), () => besidePostgres(url));
};
const onMariadb = async (): Promise<Subject> => {
  const url = await freshMariadb();
  return subject(openMysql({ url, now: clock.now }), () => besideMariadb(url));
};

test("memory and SQLite agree", { timeout: 120_000 * MORE }, async () => {
  const effects = await agree(await onSqlite(), { lists: 120, length: 55 });
  const missing = EFFECTS.filter((kind) => !effects.get(kind));
  expect(missing, `had no effect in any list; had: ${JSON.stringify(Object.fromEntries(effects))}`).toEqual(
    [],
  );
});

describeWithPostgres("a server", () => {
  test("memory and PostgreSQL agree", { timeout: 120_000 * MORE }, async () => {
    await agree(await onPostgres(), { lists: 35, length: 40 });
  });
});

describeWithMariadb("a server", () => {
  test("memory and MariaDB agree", { timeout: 120_000 * MORE }, async () => {
    await agree(await onMariadb(), { lists: 35, length: 40 });
  });
});

/** Each effect must have happened somewhere, or the lists prove less than they seem to. */
const EFFECTS = [
  "enqueue",
  "twin",
  "claim",
  "claim ahead",
  "admitted claim",
  "ended session seen",
  "start",
  "arrival",
  "succeeded",
  "failed",
  "retry",
  "returned",
  "refused",
  "over its time",
  "stopped",
  "recover waiting",
  "recover retry",
  "recover failed",
  "recover quarantined",
  "recover expired",
  "expired in a pass",
  "park",
  "parked",
  "open lane",
  "idle lane",
  "cancel",
  "retry by hand",
  "limit",
  "declared",
  "paused",
  "resumed",
  "declare",
  "deleted gate",
  "kept gate",
  "tend",
  "promoted",
  "expired by tending",
  "advance",
  "open",
  "renew",
  "renew too late",
  "close",
  "progress",
  "note",
  "read",
  "submit",
  "direct run",
  "twin of a run",
  "let in",
  "news",
  "start a run",
  "step in line",
  "finish",
  "cancel a run",
  "fail a run",
  "pause a run",
  "resume a run",
  "reprioritize",
  "fail what waits",
  "renew claims",
  "timer",
  "read a run",
  "open a list",
  "more items",
  "end of a list",
  "end items",
  "end items in flight",
  "again",
  "read items",
  "show items",
];

async function agree(
  { store, aside }: Subject,
  { lists, length }: { readonly lists: number; readonly length: number },
): Promise<Map<string, number>> {
  const effects = new Map<string, number>();
  const property = fc.asyncProperty(commandList(length), fc.boolean(), async (commands, isHeard) => {
    await emptyTables(aside);
    const memory = openMemory({ now: clock.now });
    const players = [new Player(memory, clock), new Player(store, clock)] as const;
    // Without a listener, the stores use other statements.
    const listeners = isHeard ? [await Listening.open(memory), await Listening.open(store)] : [];
    await play(commands, players);
    const states = [
      await stateOf(players[0], memory, memory.dump()),
      await stateOf(players[1], store, await tablesOf(aside)),
    ];
    expect(states[1]).toEqual(states[0]);
    const heard = await Promise.all(listeners.map((each, index) => each.heard(players[index] as Player)));
    expect(heard[1]).toEqual(heard[0]);
    await listeners[1]?.close();
    for (const [kind, count] of players[0].effects) effects.set(kind, (effects.get(kind) ?? 0) + count);
  });
  await fc.assert(property, { numRuns: lists * MORE, endOnFailure: process.env.SLUICE_SHRINK !== "1" });
  return effects;
}

/**
 * A listener that hears everything. For each unit it hears the whole history, each event once and in order.
 */
class Listening {
  readonly #store: Store;
  readonly #since: number;

  private constructor(store: Store, since: number) {
    this.#store = store;
    this.#since = since;
  }

  static async open(store: Store): Promise<Listening> {
    return new Listening(store, await store.follow([everything("all")]));
  }

  close(): Promise<void> {
    return this.#store.unfollow(["all"]);
  }

  /** What was heard, ordered per subject. Changes to different subjects in one transaction have no order. */
  async heard(player: Player): Promise<unknown> {
    const subjects = bySubject(await heardSince(this.#store, "all", this.#since, 50));
    for (const unit of player.units) {
      const heard = (subjects.get(unit) ?? []).filter(({ n }) => n !== null);
      const row = await this.#store.task(unit);
      const history = await this.#store.events(unit);
      expect(heard.map(told)).toEqual(history.map((event) => asTold(event, row)));
    }
    return player.comparable(
      [...subjects]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, changes]) => changes.map(({ position: _, ...change }) => change)),
    );
  }
}

async function play(commands: readonly Command[], [oracle, other]: readonly [Player, Player]): Promise<void> {
  for (const [index, command] of commands.entries()) {
    if (command.kind === "advance") clock.advance(command.ms);
    const [expected, found] = await Promise.all([oracle.play(command), other.play(command)]);
    expect(found, `answer to command ${index}, ${JSON.stringify(command)}`).toEqual(expected);
  }
}

type Tables = Readonly<Partial<Record<string, readonly Row[]>>>;

async function tablesOf(aside: Aside): Promise<Tables> {
  const all: Record<string, Row[]> = {};
  for (const table of TABLES) all[table] = await aside.query(`SELECT * FROM sluice_${table}`);
  return all;
}

/** All rows of all tables, without columns private to a store, and every history as the store reports it. */
async function stateOf(player: Player, store: Store, tables: Tables): Promise<unknown> {
  const rows = TABLES.filter((table) => table !== "event").map((table) => [
    table,
    (tables[table] ?? [])
      .map(({ seq: _, lowered: __, ...row }) => JSON.stringify(player.comparable(inOrder(row))))
      .sort(),
  ]);
  const histories: unknown[] = [];
  for (const subject of player.subjects) histories.push(player.comparable(await store.events(subject)));
  return { ...Object.fromEntries(rows), histories };
}

const inOrder = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));
