/** Declarations: each app has its own rows, and all of them together determine a gate. */
import { firstRank, follow, strictest } from "../../core/gate/declared.ts";
import type { Limit } from "../../core/gate/gate.ts";
import { kindOf } from "../../core/gate/key.ts";
import { undeclared } from "../../core/gate/kind.ts";
import { inByteOrder } from "../../core/text.ts";
import { contentOf, NOBODY, sayingsOf, UNNAMED_APP } from "../declaration.ts";
import { ownOrFamilys } from "../family.ts";
import { placeOfGate } from "../feed.ts";
import { asksOf } from "../lane.ts";
import type { Declaration, Declared, GateKept, Occasion, Saying } from "../store.ts";
import { unborn } from "./hand.ts";
import type { DeclaredRecord, Tables } from "./tables.ts";
import { eventKey, pairKey } from "./tables.ts";
import { declareTriggers } from "./triggers.ts";

export function declare(tables: Tables, now: number, declaration: Declaration, occasion: Occasion): Declared {
  const { app = UNNAMED_APP } = declaration;
  const { hash, body } = contentOf(declaration);
  const known = tables.deploy.of(app).sort((a, b) => b.n - a.n);
  const [current] = known;
  const isOld = current?.hash !== hash && known.some((deploy) => deploy.hash === hash);
  if (current && isOld && occasion === "start") return { inForce: false, at: current.at };
  say(tables, now, app, sayingsOf(declaration));
  declareTriggers(tables, now, app, declaration.triggers ?? []);
  if (current?.hash === hash) {
    tables.deploy.put({ ...current, body });
    return { inForce: true, at: current.at };
  }
  tables.deploy.put({ app, hash, n: (current?.n ?? 0) + 1, at: now, body });
  return { inForce: true, at: now };
}

/** Replaces the app's rows and those of no app, and updates the gates and queues. */
function say(tables: Tables, now: number, app: string, sayings: ReadonlyMap<string, Saying>): void {
  const before = new Map(
    tables.declared
      .all()
      .filter((row) => row.app === app)
      .map((row) => [row.gate, row]),
  );
  for (const gate of before.keys()) tables.declared.delete(pairKey(gate, app));
  for (const [gate, { limit: capacity, line, leaseMs, rank: queueRank }] of sayings) {
    const old = before.get(gate);
    const isSame = old?.capacity === capacity && old.leaseMs === leaseMs && old.queueRank === queueRank;
    const at = old && isSame ? old.at : now;
    tables.declared.insert({ gate, app, capacity, line, leaseMs, queueRank, at });
    tables.declared.delete(pairKey(gate, NOBODY));
  }
  const gates = [...new Set([...before.keys(), ...sayings.keys()])];
  const limits = gates.map((gate) => [gate, limitOf(tables, gate)] as const);
  for (const gate of gates) settle(tables, now, gate);
  for (const [gate, from] of limits) tellDeclared(tables, { app, gate, from, to: limitOf(tables, gate) });
}

function limitOf({ gate }: Tables, key: string): Limit {
  const known = gate.get(key);
  const own = known ? known.capacity : undeclared(key).limit;
  return ownOrFamilys(key, own, (family) => gate.get(family)?.capacity);
}

/** Reports a change only if the limit in force has changed. */
function tellDeclared(
  { feed }: Tables,
  {
    gate,
    app,
    from,
    to,
  }: { readonly gate: string; readonly app: string; readonly from: Limit; readonly to: Limit },
): void {
  const data = JSON.stringify({ app, from, to });
  if (from !== to) feed.other({ kind: "LimitDeclared", subject: gate, ...placeOfGate(gate), data });
}

function settle(tables: Tables, now: number, name: string): void {
  const said = tables.declared.of(name);
  const all = strictest(said.map(sayingOf), undeclared(name));
  const known = tables.gate.get(name);
  const { dated, ...next } = follow(known ?? { ...unborn(name), capacity: undeclared(name).limit }, all);
  const setAt = known && dated ? now : (known?.setAt ?? null);
  tables.gate.put({ ...(known ?? unborn(name)), ...next, line: all.line, setAt });
  if (kindOf(name) !== "queue") return;
  const queueRank = firstRank(said.map((row) => row.queueRank)) ?? 100;
  tables.queue.put({ name: name.slice("queue:".length), queueRank });
}

const sayingOf = ({ capacity, line, leaseMs }: DeclaredRecord) => ({ limit: capacity, line, leaseMs });

/** The gates that any unit asks for, wherever it is. */
export function asked(tables: Tables): string[] {
  const units = [
    ...tables.waiting.all(),
    ...tables.later.all(),
    ...tables.running.all(),
    ...tables.stopping.all(),
  ];
  const asks = [...units.flatMap(({ id }) => tables.task.get(id) ?? []), ...tables.arrival.all()];
  return [...new Set(asks.flatMap((each) => asksOf(each.asks).map(({ gate }) => gate)))].sort(inByteOrder);
}

export function deleteGate(tables: Tables, key: string): GateKept | null | undefined {
  if (!tables.gate.has(key)) return undefined;
  const isAsked = asked(tables).includes(key) || tables.lane.all().some(({ parked }) => parked === key);
  const said = tables.declared.of(key);
  const apps = said.map(({ app }) => app).filter((app) => app !== NOBODY);
  if (isAsked || apps.length > 0) return { apps: apps.sort(), isAsked };
  for (const { app } of said) tables.declared.delete(pairKey(key, app));
  for (const { subject, n } of tables.event.of(key)) tables.event.delete(eventKey(subject, n));
  tables.gate.delete(key);
  if (kindOf(key) === "queue") tables.queue.delete(key.slice("queue:".length));
  return null;
}
