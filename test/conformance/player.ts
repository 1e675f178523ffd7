// Plays a command list on one store and brings every answer into a form that can be compared with another
// store's.

import { compare } from "../../src/core/gate/order.ts";
import { StoreClaims } from "../../src/engine/claiming/store-claims.ts";
import type { LaneSpec } from "../../src/store/lane.ts";
import { asksOf } from "../../src/store/lane.ts";
import type { Reading, StepKey } from "../../src/store/runs.ts";
import { keyOfStep } from "../../src/store/runs.ts";
import type {
  Claimed,
  Fan,
  Finished,
  HeadRow,
  Inspection,
  LaneMove,
  Moves,
  NewRun,
  News,
  NewTask,
  Passed,
  Recovery,
  Results,
  RunMove,
  RunSeen,
  Scope,
  StepMove,
  StepSeen,
  Store,
  View,
  WaitView,
} from "../../src/store/store.ts";
import { isStopped, RUNS } from "../../src/store/store.ts";
import type { FakeClock } from "../../src/testing/index.ts";
import type { Command, EndReport, Moving, NewRunOf, NewUnit } from "./commands.ts";
import { GATES, itemLane, LANES, QUEUES, RUN_LANES, stepLane, TASKS, windowOf } from "./commands.ts";

type Pass = Extract<Command, { kind: "pass" }>;

interface Live {
  readonly claim: Claimed;
  readonly session: string;
  held: boolean;
}

export class Player {
  readonly #store: Store;
  readonly #clock: FakeClock;
  readonly #tasks: string[] = [];
  readonly #runs: string[] = [];
  /** The step, or the step over a list, that a unit belongs to. */
  readonly #stepOf = new Map<string, StepKey>();
  readonly #overLists = new Map<string, StepKey>();
  readonly #sessions: { id: string; claims: StoreClaims; prefetch: number; slots: number }[] = [];
  /** All claims ever made, in order of their epochs. Comparisons use the position instead of the epoch. */
  readonly #claims: Live[] = [];
  readonly #ranks = new Map<number, number>();
  readonly #over = new Set<number>();
  #views: View[] = [];
  /** How often each kind of command had an effect. */
  readonly effects = new Map<string, number>();

  constructor(store: Store, clock: FakeClock) {
    this.#store = watched(store, (view) => this.#views.push(view));
    this.#clock = clock;
  }

  async play(command: Command): Promise<unknown> {
    this.#views = [];
    const answer = await this.#do(command);
    return this.comparable({ answer, views: this.#views });
  }

  async #do(command: Command): Promise<unknown> {
    switch (command.kind) {
      case "enqueue":
        return this.#enqueue(command.units);
      case "exchange":
        return this.#exchange(command);
      case "pass":
        return this.#pass(command);
      case "submit":
        return this.#submit(command.runs);
      case "letIn":
        return this.#letIn(command.take);
      case "move":
        return this.#move(command);
      case "cancelRun":
        return this.#count("cancel a run", await this.#store.cancelRun(this.#run(command.run), "ann"));
      case "failRun":
        return this.#happened(
          "fail a run",
          await this.#store.failRun(this.#run(command.run), '{"code":"NO"}'),
        );
      case "pauseRun":
        return this.#happened(
          command.paused ? "pause a run" : "resume a run",
          await this.#store.pauseRun(this.#run(command.run), command.paused, "ann"),
        );
      case "reprioritize":
        return this.#count(
          "reprioritize",
          await this.#store.reprioritize(this.#task(command.unit), command.priority, "ann"),
        );
      case "failWaiting":
        return this.#happened(
          "fail what waits",
          await this.#store.failWaiting(this.#task(command.unit), '{"code":"CLAIM_TIMEOUT"}'),
        );
      case "renewClaims":
        return this.#renewClaims(command.session);
      case "resetTimers":
        return this.#resetTimers(command.afterMs);
      case "readRun":
        return this.#readRun(command.run, command.limit);
      case "cancel":
        return this.#count(
          "cancel",
          await this.#store.cancel(this.#task(command.task), "ann"),
          (answer) => !isFinal(answer.was),
        );
      case "retry":
        return this.#count("retry by hand", await this.#store.retry(this.#task(command.task), "bob"));
      case "limit":
        return this.#count(
          "limit",
          await this.#store.changeLimit({
            key: gateAt(command.gate),
            to: "value",
            limit: command.limit,
            leaseMs: command.leaseMs ?? undefined,
            by: "ann",
          }),
        );
      case "gate":
        return this.#count(
          command.to,
          await this.#store.changeLimit({ key: gateAt(command.gate), to: command.to, by: "ann" }),
        );
      case "declare":
        return this.#declare(command);
      case "deleteGate":
        return this.#deleteGate(command);
      case "tend":
        return this.#tend();
      case "advance":
        return this.#count("advance", this.#clock.now());
      case "open":
        return this.#open(command);
      case "renew":
        return this.#renew(command.session);
      case "close":
        return this.#close(command.session);
      case "progress":
        return this.#progress(command.claim);
      case "note":
        return this.#note(command.claims);
      case "read":
        return this.#read(command.task, command.session);
    }
  }

  // ── verbs ──────────────────────────────────────────────────────────────────────────────────────────────────

  async #enqueue(units: readonly NewUnit[]): Promise<unknown> {
    const tasks = units.map((unit) => this.#newTask(unit));
    this.#tasks.push(...tasks.map(({ id }) => id));
    const answers = await this.#store.enqueue(tasks);
    for (const { created } of answers) this.#tick(created ? "enqueue" : "twin");
    return answers;
  }

  #newTask({ lane, priority, key, when, good }: NewUnit): NewTask {
    const spec = laneAt(lane);
    const now = this.#clock.now();
    // IDs do not grow with time, so that an ID sometimes decides the place in a line.
    const nth = this.#tasks.length + this.#named;
    this.#named += 1;
    return {
      id: `t${String((nth * 37) % 1000).padStart(3, "0")}-${nth}`,
      name: spec.task,
      priority,
      lane: spec,
      input: `{"nth":${nth}}`,
      options: '{"retry":{"attempts":3,"backoff":"fixed","delayMs":10,"maxDelayMs":10,"jitter":0}}',
      key,
      runAt: when && "in" in when ? now + when.in : null,
      delayMs: when && "delayMs" in when ? when.delayMs : null,
      goodUntil: good && "in" in good ? now + good.in : null,
      goodForMs: good && "forMs" in good ? good.forMs : null,
    };
  }
  #named = 0;

  async #exchange({
    session,
    ends,
    began,
    appetite,
    hinted,
    ownTurn,
    draining,
  }: Extract<Command, { kind: "exchange" }>): Promise<unknown> {
    const seat = at(this.#sessions, session);
    if (!seat) return undefined;
    const finished = await this.#finished(ends);
    const ending = new Set(finished.map(({ epoch }) => epoch));
    const active = this.#claims.filter(
      ({ claim, session: holder, held }) =>
        holder === seat.id && held && !ending.has(claim.epoch) && !this.#over.has(claim.epoch),
    ).length;
    const answer = await seat.claims.exchange({
      finished,
      started: this.#began(began),
      active,
      appetite,
      hinted,
      ownTurn,
      draining,
    });
    this.#remember(answer.claimed, seat.id);
    for (const id of answer.started) this.#hold(id);
    const refused = new Set(answer.refused);
    this.#settle(finished, (id) => !refused.has(id));
    if (answer.claimed.length > 0) this.#tick("admitted claim");
    if (answer.ended) this.#tick("ended session seen");
    return { ...answer, started: [...answer.started].sort() };
  }

  async #pass(command: Pass): Promise<unknown> {
    const session = at(this.#sessions, command.session)?.id ?? "nobody";
    const finished = await this.#finished(command.ends);
    const lanes = [
      ...command.lanes.map((index) => laneAt(index)),
      ...(command.steps ? this.#lanesOfRuns() : []),
    ];
    const gates = [...new Set(lanes.flatMap(({ asks }) => asksOf(asks).map(({ gate }) => gate)))].sort();
    const scope: Scope = {
      session,
      finished,
      news: finished.flatMap(({ news }) => news ?? []),
      started: this.#began(command.began),
      lanes: lanes.map(({ id }) => ({ id, want: command.want })),
      without: [],
      exclusive: command.shared ? [] : gates,
      shared: [
        ...(command.shared ? gates : []),
        ...(gates.includes("pool:tenant=acme") ? ["pool:tenant=*"] : []),
      ],
      intake: command.intake,
      queues: QUEUES,
      perQueue: 3,
      parkedOn: command.parked && !command.shared ? gates : [],
      elsewhere: [],
      sideBySide: false,
      prefetching: command.prefetching,
    };
    let moves: Moves | undefined;
    const passed: Passed = await this.#store.pass(scope, (view) => {
      moves = this.#script(view, command);
      return moves;
    });
    this.#remember(passed.claimed, session);
    for (const id of passed.started) this.#hold(id);
    this.#settle(finished, (id) => passed.accepted.has(id));
    this.#notice(passed, moves as Moves);
    return { ...passed, started: [...passed.started].sort() };
  }

  /** A decision that a store must carry out, sensible or not. It depends on the view alone. */
  #script(view: View, { take, held, leaseMs, start, recover, move, lanes }: Pass): Moves {
    const over = view.heads
      .filter(({ goodUntil }) => goodUntil !== null && goodUntil <= view.now)
      .map(({ id }) => id);
    const claim = view.heads
      .filter(({ id }) => !over.includes(id))
      .slice(0, take)
      .map(({ id }) => ({ id, held, leaseMs }));
    const gone = new Set([...over, ...claim.map(({ id }) => id)]);
    return {
      claim,
      claimLeaseMs: 40,
      start: start ? view.prefetched.map(({ id, epoch }) => ({ id, epoch })) : [],
      expire: over,
      recover: recover === null ? [] : view.lost.map((lost) => recovered(lost, recover)),
      news: recover === null ? [] : view.lost.flatMap(({ id }) => this.#newsOf(id, recover) ?? []),
      lanes:
        move === null
          ? []
          : view.lanes.map((lane): LaneMove => {
              const rest = view.heads.filter((head) => head.lane === lane.id && !gone.has(head.id));
              const first = rest[0];
              const gate = asksOf(lane.asks)[lanes.length % asksOf(lane.asks).length]?.gate as string;
              // A lane with a waiting unit is never idle, and its head is never behind a waiting unit.
              const state = move.to === "idle" && first ? "open" : move.to;
              return {
                lane: lane.id,
                stamp: lane.stamp - move.age,
                state,
                parked: state === "parked" ? gate : null,
                mark:
                  move.mark && first
                    ? { unit: first.id, passed: 1 + (lane.mark?.passed ?? 0), since: view.now }
                    : null,
                blocked: move.blocked ? JSON.stringify([gate]) : "[]",
                head: first ? { priority: first.priority, at: first.at, id: first.id } : null,
              };
            }),
    };
  }

  // ── runs ───────────────────────────────────────────────────────────────────────────────────────────────────

  async #submit(units: readonly NewRunOf[]): Promise<unknown> {
    const runs = units.map((unit): NewRun => {
      const lane = RUN_LANES[unit.lane] as (typeof RUN_LANES)[number];
      return {
        ...this.#newTask({ ...unit, lane: 0, good: null }),
        lane,
        name: lane.task,
        options: '{"startTimeoutMs":35,"onStartTimeout":"requeue"}',
        direct: unit.direct,
        graph: `{"nth":${unit.graph}}`,
        tags: unit.graph === 0 ? "{}" : `{"tenant":"t${unit.graph}"}`,
        source: "code",
        rerunOf: unit.graph === 2 ? (this.#runs.at(-1) ?? null) : null,
        steps: unit.graph === 2 ? TAKEN_OVER : [],
      };
    });
    const ids = runs.map(({ id }) => id);
    this.#runs.push(...ids);
    this.#tasks.push(...ids);
    const answers = await this.#store.submit(runs);
    for (const [index, { created }] of answers.entries())
      this.#tick(!created ? "twin of a run" : runs[index]?.direct ? "direct run" : "submit");
    return answers;
  }

  async #letIn(take: number): Promise<unknown> {
    const gates = ["runs", "tag:tenant=acme"];
    const lanes = RUN_LANES.map(({ id }) => ({ id, want: 3 }));
    const scope: Scope = { ...intakeOnly, session: RUNS, lanes, exclusive: gates };
    const passed = await this.#store.pass(scope, (view) => {
      const ids = view.heads.slice(0, take).map(({ id }) => id);
      return {
        ...idle,
        claim: ids.map((id) => ({ id, held: true })),
        claimLeaseMs: 35,
        news: ids.map(ofRun),
      };
    });
    this.#remember(passed.claimed, RUNS);
    for (const _ of passed.claimed) this.#tick("let in");
    return passed;
  }

  async #move(moving: Moving): Promise<unknown> {
    const asked: unknown[] = [];
    const answer = await this.#store.advance((runs, results) => {
      asked.push({ runs, results: Object.values(results).map((read) => [...read].sort()) });
      const reading = readingOf(runs);
      if (moving.read && results.bodies.size === 0 && reading.bodies.length > 0) return { read: reading };
      for (const [, items] of results.items) if (items.length > 0) this.#tick("read items");
      return { moves: runs.map((run) => this.#moveOf(run, moving, results)) };
    });
    if (answer.news > 0) this.#tick("news");
    if (answer.enqueued > 0) this.#tick("step in line");
    if (answer.freed.length > 0) this.#tick("finish");
    return { answer, asked };
  }

  /** Depends only on what is seen. */
  #moveOf(run: RunSeen, moving: Moving, results: Results): RunMove {
    const { id, epoch, started, steps } = run;
    const begins = !started && moving.start;
    const opened = started || begins ? this.#opened(run, moving) : [];
    const further = steps.flatMap((step) => this.#further(run, step, moving, results));
    const all = [...steps.flatMap(endOf), ...further, ...opened];
    if (begins) this.#tick("start a run");
    if (moving.again) this.#tick("again");
    return {
      run: id,
      epoch,
      start: begins
        ? { gates: [{ key: `run:${id}/steps`, limit: moving.limit }], timeoutMs: moving.timeoutMs }
        : null,
      gates: opened.flatMap(({ fan, name }) =>
        fan ? [{ key: windowOf(id, name), limit: moving.limit }] : [],
      ),
      steps: all.map(({ units: _, ...step }) => step),
      enqueue: all.flatMap(({ units }) => units),
      timers: opened.flatMap(({ fan }) => (fan ? [{ lane: fan.lane, afterMs: 20 }] : [])),
      endItems: this.#endItems(steps, moving),
      endLine: moving.endLine ? { because: "b" } : null,
      claim: null,
      again: moving.again,
      finish: moving.finish && { state: moving.finish, body: `{"at":${this.#clock.now()}}` },
    };
  }

  /** Opens steps of one unit each, and perhaps one over a list. */
  #opened(run: RunSeen, moving: Moving): Opened[] {
    const names = Array.from({ length: moving.open }, (_, nth) => `s${run.steps.length + nth}`);
    const plain = names.map((name): Opened => {
      const unit = this.#unit(run, name, stepLane(run.id), moving);
      return { name, unit: unit.id, body: null, state: "open", units: [unit] };
    });
    if (moving.items === null) return plain;
    const name = `s${run.steps.length + moving.open}`;
    this.#overLists.set(`${run.id}/${name}`, { run: run.id, step: name });
    this.#tick("open a list");
    const none = { lane: itemLane(run.id, name).id, total: moving.items, created: 0 };
    return [...plain, this.#inLine(run, name, { ...none, until: Math.ceil(moving.items / 2) }, moving)];
  }

  /** A step over a list, with its items before `until` in line. */
  #inLine(run: RunSeen, name: string, fan: Fan & { readonly until: number }, moving: Moving): Opened {
    const { lane, total, created, until } = fan;
    const units = Array.from({ length: until - created }, (_, nth) => ({
      ...this.#unit(run, name, itemLane(run.id, name), moving),
      item: created + nth,
    }));
    const body = `[${total}]`;
    return { name, unit: null, body, state: "open", fan: { lane, total, created: until }, units };
  }

  /** Continues a step over a list: puts the rest of its items in line, or ends it. */
  #further(run: RunSeen, { name, state, fan }: StepSeen, moving: Moving, { items }: Results): Opened[] {
    if (state !== "open" || fan === null || moving.endItems) return [];
    if (fan.created < fan.total && moving.more) {
      this.#tick("more items");
      return [this.#inLine(run, name, { ...fan, until: fan.total }, moving)];
    }
    if (fan.left) return [];
    this.#tick("end of a list");
    const ended = run.failed.includes(name) ? "failed" : "succeeded";
    const body = JSON.stringify(items.get(keyOfStep({ run: run.id, step: name })) ?? null);
    return [{ name, unit: null, body, state: ended, units: [] }];
  }

  #endItems(steps: readonly StepSeen[], { endItems }: Moving): RunMove["endItems"] {
    if (!endItems) return [];
    return steps.flatMap(({ name: step, state, fan }) => {
      if (state !== "open" || !fan?.left) return [];
      this.#tick(endItems.inFlight ? "end items in flight" : "end items");
      return [{ step, inFlight: endItems.inFlight }];
    });
  }

  #unit(
    { id: run, priority }: RunSeen,
    step: string,
    lane: LaneSpec,
    moving: Moving,
  ): RunMove["enqueue"][number] {
    const { claimTimeoutMs, delayMs } = moving;
    const unit = { ...this.#newTask({ lane: 0, priority, key: null, when: null, good: null }), delayMs };
    this.#tasks.push(unit.id);
    this.#stepOf.set(unit.id, { run, step });
    return { ...unit, lane, step, claimTimeoutMs };
  }

  /** What the end of a unit means to its run. */
  #newsOf(unit: string, to: Finished["to"]): News | undefined {
    const found = this.#stepOf.get(unit);
    const isFailure = to === "failed" || to === "quarantined" || to === "expired";
    return found && { run: found.run, failed: isFailure ? found.step : null };
  }

  #lanesOfRuns(): LaneSpec[] {
    const lists = [...this.#overLists.values()].slice(-4);
    return [...this.#runs.slice(-4).map(stepLane), ...lists.map(({ run, step }) => itemLane(run, step))];
  }

  async #renewClaims(session: number): Promise<unknown> {
    const renewed = await this.#store.renewClaims(at(this.#sessions, session)?.id ?? "nobody");
    if (renewed.length > 0) this.#tick("renew claims");
    return renewed.map((epoch) => ({ epoch }));
  }

  async #resetTimers(afterMs: number | null): Promise<unknown> {
    const seen = await this.#store.timers();
    for (const timer of seen.due) {
      await this.#store.resetTimer(timer, afterMs);
      this.#tick("timer");
    }
    return seen;
  }

  async #readRun(ref: number, limit: number): Promise<unknown> {
    const id = this.#run(ref);
    const store = this.#store;
    this.#tick("read a run");
    const line = async (queue: string) => {
      const { usage, sessions, lanes, ...rest } = await store.line(queue, limit);
      // A lane that no pass has taken in has only a guessed head.
      const known = lanes.map(({ head: _, ...lane }) => lane);
      return { ...rest, usage: sorted(usage), sessions: sorted(sessions), lanes: sorted(known) };
    };
    const detail = await store.run(id);
    const lists = (detail?.steps ?? []).filter(({ items }) => items !== null);
    const pages = lists.flatMap(({ name }) => [
      store.items(id, name, { after: -1, limit }),
      store.items(id, name, { after: 1, limit }),
    ]);
    if (lists.length > 0) this.#tick("show items");
    return {
      run: detail,
      items: await Promise.all(pages),
      standstills: await Promise.all(lists.map(({ fan }) => store.standstill(fan?.lane ?? ""))),
      events: await store.events(id),
      runs: await store.runs({ limit, tag: "tenant" }),
      queued: await store.runs({ limit, state: "queued", workflow: "nightly" }),
      runsLine: await line(RUNS),
      mailLine: await line("mail"),
      holders: [await store.holders("runs"), await store.holders("pool:smtp")],
      timers: await store.timers(),
      waiting: sorted(await store.waiting()),
      asked: await store.asked(),
    };
  }

  // ── the rest ───────────────────────────────────────────────────────────────────────────────────────────────

  async #declare(command: Extract<Command, { kind: "declare" }>): Promise<unknown> {
    const { app, occasion, gates, rank } = command;
    const declaration = {
      app,
      queues: [{ name: "money", rank }],
      gates: gates.map(({ gate, limit }) => ({
        key: gateAt(gate),
        limit,
        line: limit % 2 === 0 ? ("skip" as const) : ("bypass" as const),
        leaseMs: 1_000 * limit,
      })),
    };
    const declared = await this.#store.declare(declaration, occasion);
    this.#tick("declare");
    return declared;
  }

  async #deleteGate({ gate }: Extract<Command, { kind: "deleteGate" }>): Promise<unknown> {
    const kept = await this.#store.deleteGate(gateAt(gate));
    this.#tick(kept === null ? "deleted gate" : "kept gate");
    return kept ?? String(kept);
  }

  async #tend(): Promise<unknown> {
    const tended = await this.#store.tend();
    this.#tick("tend");
    if (tended.promoted > 0) this.#tick("promoted");
    if (tended.expired > 0) this.#tick("expired by tending");
    if (tended.parkedOn.length > 0) this.#tick("parked");
    return { ...tended, parkedOn: [...tended.parkedOn].sort() };
  }

  async #open({ leaseMs, slots, prefetch }: Extract<Command, { kind: "open" }>): Promise<void> {
    const id = `s${this.#sessions.length}`;
    const seat = { name: `worker ${id}`, slots, prefetch, claimLeaseMs: 40, queues: QUEUES, tasks: TASKS };
    const claims = new StoreClaims(this.#store, seat);
    await claims.open(id, leaseMs);
    this.#sessions.push({ id, claims, prefetch, slots });
    this.#tick("open");
  }

  async #renew(session: number): Promise<unknown> {
    const id = at(this.#sessions, session)?.id;
    if (id === undefined) return undefined;
    const alive = await this.#store.renewSession(id, 100);
    this.#tick(alive ? "renew" : "renew too late");
    return alive;
  }

  async #close(session: number): Promise<void> {
    const id = at(this.#sessions, session)?.id;
    if (id === undefined) return;
    await this.#store.closeSession(id);
    this.#tick("close");
  }

  async #progress(claim: number): Promise<void> {
    const found = at(this.#claims, claim)?.claim;
    if (!found) return;
    await this.#store.progress([{ id: found.id, epoch: found.epoch, value: `"${this.#clock.now()}"` }]);
    this.#tick("progress");
  }

  async #note(claims: readonly number[]): Promise<void> {
    const found = claims.flatMap((index) => at(this.#claims, index)?.claim ?? []);
    await this.#store.note(
      found.map(({ id, epoch }, index) => ({ id, epoch, kind: "TaskLogged", data: `{"line":${index}}` })),
    );
    if (found.length > 0) this.#tick("note");
  }

  async #read(task: number, session: number): Promise<unknown> {
    const id = this.#task(task);
    const store = this.#store;
    // A store may read a line from its head on, so units before the head are certain to show only once they
    // are taken in.
    const before = await store.wait(id);
    await store.pass(intakeOnly, () => idle);
    const after = await store.wait(id);
    this.#tick("read");
    return {
      task: await store.task(id),
      events: await store.events(id),
      // A lane that no pass has taken in has only a guessed head.
      before: before && {
        ...waitInOrder(before),
        lanes: sorted(before.lanes.map(({ head: _, ...lane }) => lane)),
        heads: [],
      },
      after: after && waitInOrder(after),
      tasks: await store.tasks({ limit: 5, queue: "mail" }),
      find: await store.find(id.slice(0, 2)),
      gates: await store.gates(),
      limits: [...(await store.limits(["pool:tenant=acme", "queue:mail", "nowhere"]))].sort(),
      queues: await store.queues(),
      sessions: sorted(await store.sessions()),
      inspection: comparable(await store.inspect()),
      stopping: await store.stopping(),
      claims: await store.claimsOf(at(this.#sessions, session)?.id ?? "nobody"),
      stale: await store.stale(this.#claims.slice(-5).map(({ claim }) => claim)),
    };
  }

  // ── what we remember ───────────────────────────────────────────────────────────────────────────────────────

  /** Claims of workers. Nobody reports on a run: it ends with its steps. */
  get #ofWorkers(): readonly Live[] {
    return this.#claims.filter(({ session }) => session !== RUNS);
  }

  #run(ref: number): string {
    return at(this.#runs, ref) ?? "nobody";
  }

  #task(ref: number): string {
    return at(this.#tasks, ref) ?? "nobody";
  }

  async #finished(ends: readonly EndReport[]): Promise<Finished[]> {
    const tasks = this.#ofWorkers;
    const open = tasks.filter(({ claim }) => !this.#over.has(claim.epoch));
    const taken = ends.some(({ to }) => to === "stopped") ? await this.#takenAway() : [];
    const found = ends.flatMap(({ claim, ofAll, to, delayMs, stopping }): Finished[] => {
      const live = at(to === "stopped" && !ofAll ? taken : ofAll ? tasks : open, claim)?.claim;
      if (!live) return [];
      if (to === "stopped") {
        if (taken.some(({ claim: { epoch } }) => epoch === live.epoch)) this.#tick("stopped");
        return [{ id: live.id, epoch: live.epoch, to }];
      }
      return [
        {
          id: live.id,
          epoch: live.epoch,
          news: this.#newsOf(live.id, to),
          to,
          body: to === "returned" ? null : `{"at":${this.#clock.now()}}`,
          delayMs: to === "retry" ? delayMs : 0,
          ...(stopping && (to === "failed" || to === "retry") ? { stopping: true } : {}),
        },
      ];
    });
    // A pass reports a unit once, but may also report that its code has stopped.
    return [...new Map(found.map((report) => [`${report.id} ${isStopped(report)}`, report])).values()];
  }

  /** Claims whose code has not stopped yet. */
  async #takenAway(): Promise<readonly Live[]> {
    const epochs = new Set((await this.#store.stopping()).map(({ epoch }) => epoch));
    return this.#ofWorkers.filter(({ claim }) => epochs.has(claim.epoch));
  }

  #began(refs: readonly number[]): { id: string; epoch: number }[] {
    const found = refs.flatMap((ref) => at(this.#ofWorkers, ref)?.claim ?? []);
    return [...new Map(found.map(({ id, epoch }) => [epoch, { id, epoch }])).values()];
  }

  #remember(claimed: readonly Claimed[], session: string): void {
    for (const claim of [...claimed].sort((a, b) => a.epoch - b.epoch)) {
      this.#ranks.set(claim.epoch, this.#claims.length);
      this.#claims.push({ claim, session, held: claim.held });
      this.#tick(claim.held ? "claim" : "claim ahead");
    }
  }

  #hold(id: string): void {
    const live = this.#claims.findLast(({ claim }) => claim.id === id);
    if (live) live.held = true;
    this.#tick("start");
  }

  #settle(finished: readonly Finished[], isAccepted: (id: string) => boolean): void {
    for (const one of finished) {
      if (isStopped(one)) continue;
      const { id, epoch, to } = one;
      if ("stopping" in one && isAccepted(id)) this.#tick("over its time");
      this.#over.add(epoch);
      this.#tick(isAccepted(id) ? to : "refused");
    }
  }

  #notice(passed: Passed, moves: Moves): void {
    if (passed.arrived.length > 0) this.#tick("arrival");
    for (const { to } of moves.recover) this.#tick(`recover ${to}`);
    if (moves.expire.length > 0) this.#tick("expired in a pass");
    if (moves.lanes.some(({ state }) => state === "parked")) this.#tick("park");
    if (moves.lanes.some(({ state }) => state === "open")) this.#tick("open lane");
    if (moves.lanes.some(({ state }) => state === "idle")) this.#tick("idle lane");
  }

  #count<T>(kind: string, answer: T | undefined, counts: (answer: T) => boolean = () => true): T | undefined {
    if (answer !== undefined && counts(answer)) this.#tick(kind);
    return answer;
  }

  #happened(kind: string, answer: boolean): boolean {
    if (answer) this.#tick(kind);
    return answer;
  }

  #tick(kind: string): void {
    this.effects.set(kind, (this.effects.get(kind) ?? 0) + 1);
  }

  /** Replaces epochs by their rank and sorts sets: stores differ in epoch values and in set order. */
  comparable(value: unknown): unknown {
    if (value instanceof Set) return this.comparable([...value].sort());
    if (Array.isArray(value)) return value.map((each) => this.comparable(each));
    if (typeof value === "string")
      return value.replace(/"epoch":(\d+)/, (_, epoch) => `"epoch":${this.#rank(Number(epoch))}`);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([name, each]) => [
      name,
      name === "epoch" ? this.#rank(each as number | null) : this.comparable(each),
    ]);
    return Object.fromEntries(entries);
  }

  #rank(epoch: number | null): string | null {
    return epoch === null ? null : `#${this.#ranks.get(epoch) ?? "?"}`;
  }

  get units(): readonly string[] {
    return this.#tasks;
  }

  get subjects(): readonly string[] {
    const gates = this.#runs.map((run) => `run:${run}/steps`);
    const windows = [...this.#overLists.values()].map(({ run, step }) => windowOf(run, step));
    return [...this.#tasks, ...GATES, ...gates, ...windows, ...LANES.map(({ id }) => id)];
  }
}

/** A step, and the units to put in line for it. */
type Opened = StepMove & { readonly units: RunMove["enqueue"] };

/** The steps that a rerun of another run is submitted with. */
const TAKEN_OVER: readonly StepMove[] = [
  { name: "s0", state: "skipped", unit: null, body: "{}" },
  { name: "s1", state: "succeeded", unit: null, body: "[2]", fan: { lane: "gone", total: 2, created: 2 } },
];

const ofRun = (run: string): News => ({ run, failed: null });

/** Everything that can be read about these runs, and some things that do not exist. */
function readingOf(runs: readonly RunSeen[]): Reading {
  const steps = runs.flatMap(({ id, steps }) => steps.map((step) => ({ run: id, step: step.name })));
  const earlier = runs.flatMap(({ rerunOf }) => (rerunOf === null ? [] : [{ run: rerunOf, step: "s2" }]));
  const units = runs.flatMap(({ steps }) => steps.flatMap(({ unit }) => unit ?? []));
  return { units, bodies: [...steps, ...earlier], items: [...steps, ...earlier] };
}

/** Ends a step as its unit ended. */
function endOf({ name, unit, body, ended }: StepSeen): Opened[] {
  const state = ended === "succeeded" || ended === "cancelled" ? ended : "failed";
  return ended === null ? [] : [{ name, unit, body, state, units: [] }];
}

const laneAt = (index: number) => LANES[index] as (typeof LANES)[number];
const gateAt = (index: number): string => GATES[index] as string;
const at = <T>(list: readonly T[], ref: number): T | undefined => list[ref % Math.max(1, list.length)];
const isFinal = (state: string): boolean => !["waiting", "later", "claimed", "running"].includes(state);

const recovered = ({ id, epoch }: View["lost"][number], to: Recovery["to"]): Recovery => ({
  id,
  epoch,
  to,
  body: to === "waiting" ? null : '{"code":"LEASE_LOST"}',
});

const sorted = <T extends object>(list: readonly T[]): T[] =>
  [...list].sort((a, b) => (inFieldOrder(a) < inFieldOrder(b) ? -1 : 1));

/** Stores may fill in the fields of a row in different orders. */
const inFieldOrder = (row: object): string =>
  JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Leaves out settings, which differ by store, and event rows, which only some stores write. */
function comparable({ settings: _, rows: { event: __, ...rows }, lost, ...rest }: Inspection): unknown {
  return { ...rest, rows, lost: lost.map(({ epoch: _, ...claim }) => claim) };
}

const waitInOrder = (wait: WaitView): WaitView => ({
  ...wait,
  usage: sorted(wait.usage),
  sessions: sorted(wait.sessions),
  lanes: sorted(wait.lanes),
  heads: sorted(wait.heads),
  ahead: sorted(wait.ahead),
});

const idle: Moves = { claim: [], claimLeaseMs: 0, start: [], expire: [], recover: [], lanes: [] };

const intakeOnly: Scope = {
  session: "nobody",
  finished: [],
  started: [],
  lanes: [],
  without: [],
  exclusive: [],
  shared: [],
  intake: true,
  queues: [],
  perQueue: 1,
  parkedOn: [],
  elsewhere: [],
  sideBySide: false,
  prefetching: 0,
};

/**
 * A lane's head is a lower bound. A store may start reading there and need not show units that are not taken
 * in.
 */
function fromHeadOn(heads: readonly HeadRow[], lanes: View["lanes"]): HeadRow[] {
  const first = new Map(lanes.map((lane) => [lane.id, { rank: 0, ...lane.head }]));
  return heads.filter((head) => {
    const place = first.get(head.lane);
    return place !== undefined && compare({ rank: 0, ...head }, place) >= 0;
  });
}

/**
 * Shows every decision only the part of the view on which all stores must agree, in one order, and records
 * it.
 */
function watched(store: Store, seen: (view: View) => void): Store {
  const pass: Store["pass"] = (scope, decide) => {
    const want = new Map(scope.lanes.map((lane) => [lane.id, lane.want]));
    const wide = { ...scope, lanes: scope.lanes.map(({ id }) => ({ id, want: 500 })) };
    return store.pass(wide, (view) => {
      const heads = [...fromHeadOn(view.heads, view.lanes)].sort((a, b) =>
        a.lane < b.lane ? -1 : a.lane > b.lane ? 1 : compare({ rank: 0, ...a }, { rank: 0, ...b }),
      );
      const counts = new Map<string, number>();
      const shown: View = {
        ...view,
        gates: sorted(view.gates),
        usage: sorted(view.usage),
        sessions: sorted(view.sessions),
        lanes: [...view.lanes].sort((a, b) => (a.id < b.id ? -1 : 1)),
        heads: heads.filter(({ lane }) => {
          const count = (counts.get(lane) ?? 0) + 1;
          counts.set(lane, count);
          return count <= (want.get(lane) ?? 2);
        }),
        lost: [...view.lost].sort((a, b) => (a.id < b.id ? -1 : 1)),
      };
      seen(shown);
      return decide(shown);
    });
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === "pass") return pass;
      // Nobody listens, and a hint costs a round trip.
      if (name === "hint") return () => {};
      const found = Reflect.get(target, name, target) as unknown;
      return typeof found === "function" ? found.bind(target) : found;
    },
  });
}
