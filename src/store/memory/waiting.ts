/** Steps that wait for a time, an event or a person, and the signals of events, by simple walks over the tables. */
import type { RunMove } from "../runs.ts";
import type { AwaitedEvent, NewSignal, NewWait, Signalled, StepKey, WaitAnswer, WaitRow } from "../store.ts";
import { LAPSED, SIGNALS_AT_ONCE, SWEEP_AFTER_MS, waitSubject } from "../store.ts";
import { leaveNews, ofRun } from "./news.ts";
import { hearingOf } from "./since.ts";
import type { SignalRecord, Tables, WaitRecord } from "./tables.ts";
import { eventKey, pairKey } from "./tables.ts";
import { forgetTimers } from "./timer.ts";

export function signal(tables: Tables, now: number, sent: NewSignal): Signalled {
  const { id, event, key, payload, keepMs } = sent;
  const same = tables.signal.all().find((each) => each.event === event && each.idemKey === key);
  if (key !== null && same && same.untilAt > now) return { id: same.id, created: false, woken: 0 };
  if (key !== null && same) tables.signal.delete(same.id);
  const stored: SignalRecord = { id, event, idemKey: key, payload, at: now, untilAt: now + keepMs };
  tables.signal.insert(stored);
  const woken = new Map<string, WaitRecord>();
  const inOrder = tables.wait.all().sort((a, b) => a.at - b.at || (a.step < b.step ? -1 : 1));
  for (const wait of inOrder) {
    if (wait.state !== null || woken.has(wait.run) || !matches(wait.event, stored)) continue;
    woken.set(wait.run, wait);
  }
  for (const wait of woken.values()) take(tables, now, wait, stored);
  const data = JSON.stringify({ id, woken: woken.size });
  tables.feed.other({ kind: "SignalSent", subject: event, data });
  return { id, created: true, woken: woken.size };
}

function matches(event: AwaitedEvent | null, { event: name, payload }: SignalRecord): boolean {
  if (event?.name !== name) return false;
  const value: unknown = JSON.parse(payload);
  return event.match.every(
    ([field, wanted]) =>
      typeof value === "object" &&
      value !== null &&
      !Array.isArray(value) &&
      Object.hasOwn(value, field) &&
      (value as Readonly<Record<string, unknown>>)[field] === wanted,
  );
}

function take(tables: Tables, now: number, wait: WaitRecord, { id, payload }: SignalRecord): void {
  const told = JSON.stringify({ how: "signal", signal: id });
  answer(tables, now, { ...wait, signalId: id }, { state: "succeeded", body: payload, told });
}

function answer(tables: Tables, now: number, wait: WaitRecord, { state, body, told }: WaitAnswer): void {
  const { run, step } = wait;
  const subject = waitSubject({ run, step });
  tables.wait.put({ ...wait, state, body });
  const data = JSON.stringify({ ...JSON.parse(told), state });
  tables.event.insert({ subject, n: 2, kind: "StepAnswered", at: now, data });
  forgetTimers(tables, subject);
  leaveNews(tables, [ofRun(run)]);
}

export function answerWait(
  tables: Tables,
  now: number,
  { run, step }: StepKey,
  given: WaitAnswer,
): boolean | undefined {
  const wait = tables.wait.get(pairKey(run, step));
  if (!wait) return undefined;
  if (wait.state !== null) return false;
  answer(tables, now, wait, given);
  return true;
}

export function lapseWait(tables: Tables, now: number, { run, step }: StepKey): boolean {
  const wait = tables.wait.get(pairKey(run, step));
  forgetTimers(tables, waitSubject({ run, step }));
  if (!wait?.late || wait.state !== null) return false;
  answer(tables, now, wait, { ...wait.late, told: LAPSED });
  return true;
}

export function beginWaits(tables: Tables, now: number, { run, steps }: RunMove): void {
  for (const { name, wait } of steps) if (wait) begin(tables, now, { run, step: name }, wait);
}

function begin(tables: Tables, now: number, { run, step }: StepKey, wait: NewWait): void {
  const { event, late, until, told } = wait;
  const subject = waitSubject({ run, step });
  const record: WaitRecord = { run, step, event, late, state: null, body: null, signalId: null, at: now };
  tables.wait.insert(record);
  tables.event.insert({ subject, n: 1, kind: "StepWaiting", at: now, data: told });
  if (until) {
    const at = "at" in until ? until.at : now + until.afterMs;
    tables.timer.put({ id: subject, kind: "wait", at });
  }
  const sent = firstSent(tables, now, record);
  if (sent) take(tables, now, record, sent);
}

/** The first signal that the run can hear, that is still kept, and that no step of the run has taken. */
function firstSent(tables: Tables, now: number, { run, event }: WaitRecord): SignalRecord | undefined {
  const { since, taken: before } = hearingOf(tables, run);
  const taken = new Set([...tables.wait.of(run).map(({ signalId }) => signalId), ...before]);
  const [first] = tables.signal
    .all()
    .filter((each) => each.at >= since && each.untilAt > now && !taken.has(each.id) && matches(event, each))
    .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  return first;
}

/** The answers of steps that end now become the bodies of the steps. */
export function takeAnswers(tables: Tables, { run, steps }: RunMove): void {
  for (const { name, answered } of steps) {
    const key = pairKey(run, name);
    const wait = tables.wait.get(key);
    const step = tables.step.get(key);
    if (!answered || !wait || !step) continue;
    tables.step.put({ ...step, body: wait.body });
    tables.wait.put({ ...wait, body: null, late: wait.late && { ...wait.late, body: null } });
  }
}

export function deleteWaits(tables: Tables, run: string): void {
  for (const { step } of tables.wait.of(run)) {
    forgetTimers(tables, waitSubject({ run, step }));
    tables.wait.delete(pairKey(run, step));
  }
}

export function waitRow(tables: Tables, wait: StepKey): WaitRow | null {
  const subject = waitSubject(wait);
  const begun = tables.event.get(eventKey(subject, 1));
  if (!begun) return null;
  const answered = tables.event.get(eventKey(subject, 2));
  return {
    since: begun.at,
    told: begun.data ?? "{}",
    answeredAt: answered?.at ?? null,
    answer: answered?.data ?? null,
  };
}

export function sweepSignals(tables: Tables, now: number): void {
  const old = tables.signal.all().filter(({ untilAt }) => untilAt <= now - SWEEP_AFTER_MS);
  const first = old.sort((a, b) => a.untilAt - b.untilAt).slice(0, SIGNALS_AT_ONCE);
  for (const { id } of first) tables.signal.delete(id);
}
