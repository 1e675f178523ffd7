/** Small histories for the checkers' tests. Everything is well unless a test plants something. */
import type { Audited, Claim, Effect, OutcomeRow, Tables, Visit } from "../history.ts";

export const LANES = new Map([
  ["one", { cluster: 1, "pool:a": 1 }],
  ["three", { cluster: 1, "pool:a": 3 }],
]);

export const limit = (at: number, gate: string, capacity: number | null, paused = false): Audited => ({
  kind: "limit",
  at,
  stamp: at,
  gate,
  capacity,
  paused,
});

export const session = (at: number, id: string, expires: number, pid = 7): Audited => ({
  kind: "session",
  at,
  stamp: at,
  session: id,
  name: `host:${pid}`,
  expires,
});

export const sessionEnd = (at: number, id: string): Audited => ({
  kind: "sessionEnd",
  at,
  stamp: at,
  session: id,
});

const claimOf = (epoch: number, over: Partial<Claim>): Claim => ({
  epoch,
  task: `t${epoch}`,
  lane: "one",
  session: "s",
  held: true,
  until: null,
  attempt: 1,
  losses: 0,
  ...over,
});

export const claim = (at: number, epoch: number, over: Partial<Claim> = {}): Audited => ({
  kind: "claim",
  at,
  stamp: at,
  ...claimOf(epoch, over),
});

export const release = (at: number, epoch: number, over: Partial<Claim> = {}): Audited => ({
  kind: "release",
  at,
  stamp: at,
  ...claimOf(epoch, over),
});

export const outcome = (
  at: number,
  task: string,
  over: Partial<Audited & { kind: "outcome" }> = {},
): Audited => ({
  kind: "outcome",
  at,
  stamp: at,
  task,
  state: "succeeded",
  epoch: null,
  attempt: 1,
  losses: 0,
  ...over,
});

export const waiting = (at: number, task: string, attempt: number, losses: number): Audited => ({
  kind: "place",
  at,
  stamp: at,
  task,
  place: "waiting",
  attempt,
  losses,
});

export const visit = (from: number, to: number, epoch: number, over: Partial<Visit> = {}): Visit => ({
  task: `t${epoch}`,
  name: "quick",
  epoch,
  pid: 7,
  parent: 1,
  mark: null,
  gates: { "pool:a": 1 },
  from,
  to,
  left: true,
  ...over,
});

export const effect = (at: number, key: string, token: number, accepted = true): Effect => ({
  at,
  key,
  token,
  accepted,
});

export const outcomeRow = (id: string, over: Partial<OutcomeRow> = {}): OutcomeRow => ({
  id,
  state: "succeeded",
  epoch: 1,
  body: '{"fence":1}',
  attempt: 1,
  losses: 0,
  ...over,
});

export const tables = (over: Partial<Tables> = {}): Tables => ({
  tasks: [],
  waiting: [],
  later: [],
  running: [],
  stopping: [],
  outcomes: [],
  lanes: LANES,
  runs: [],
  news: [],
  gates: [],
  sessions: [],
  ...over,
});

export const task = (id: string, attempts = 3): Tables["tasks"][number] => ({
  id,
  name: "quick",
  key: null,
  attempts,
  run: null,
  step: null,
  item: null,
});

/** A unit of a run. */
export const stepTask = (run: string, step: string, item: number | null = null): Tables["tasks"][number] => ({
  ...task(`${run}-${step}${item === null ? "" : `-${item}`}`),
  run,
  step,
  item,
});
