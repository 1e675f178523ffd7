/** Defects of the answer to "why is it waiting?". */
import type { Defect } from "../defect.ts";

const EXPLAIN = "src/core/gate/explain.ts";
const WORLDS = "src/core/gate/worlds.ts";
const PURE = "src/core/gate/explain.test.ts";
const PAGE = "src/core/gate/explain-page.test.ts";
const PAUSE = "test/runs/pause-waits.test.ts";
const WHY_LIST = "test/fan-out/why.test.ts";
const LONG = { file: "test/why/long-line.test.ts" };

export const defects: readonly Defect[] = [
  {
    id: "why-names-a-value-for-its-family",
    means: "a value paused by the limit of its family gets a limit of its own as a remedy",
    file: "src/engine/claiming/wait.ts",
    from: ": { ...rest, gate, room };",
    to: ": { ...rest, room };",
    noticedBy: { file: "src/api/explain.test.ts", test: "is the family's limit of 0" },
  },
  {
    id: "why-frees-everybodys-slot-first",
    means: "the first command of why frees a slot of the cluster, and another unit takes it",
    file: "src/core/gate/explain.ts",
    from: "? 2 : 1) * asks.length + ask : ask;",
    to: "? 0 : 0) * asks.length + ask : ask;",
    noticedBy: { file: "src/api/explain.test.ts", test: "is every gate in its way" },
  },
  {
    id: "why-stops-at-the-first-hurdle",
    means: "A full gate hides that no worker has a free slot.",
    file: EXPLAIN,
    from: "      if (!reasons) return found;",
    to: "      if (!reasons || found.size > 0) return found;",
    noticedBy: { file: PURE, test: "is the full gate and the busy worker" },
  },
  {
    id: "why-keeps-what-is-needless",
    means: "It names gates whose removal changes nothing.",
    file: EXPLAIN,
    from: "    const gone = least([...found.keys()], starts);",
    to: "    const gone = [...found.keys()];",
    noticedBy: { file: PURE, test: "is not a gate that others leave free" },
  },
  {
    id: "why-tells-imagined-holders",
    means: "With nothing held, a limit is reported as full.",
    file: EXPLAIN,
    from: "    if (held + asked > limit) return {",
    to: '    if (reason.kind === "full") return {',
    noticedBy: { file: PURE, test: "is who stands in front" },
  },
  {
    id: "why-forgets-the-limit-under-a-pause",
    means: "Resuming a paused gate that is also full starts nothing, though nothing else was named.",
    file: WORLDS,
    from: "paused: gate.paused && !removed.has(pauseOf(gate.key)),",
    to: "paused: gate.paused && !removed.has(pauseOf(gate.key)), held: removed.has(pauseOf(gate.key)) ? 0 : gate.held,",
    noticedBy: { file: PURE, test: "is both the pause of a gate and that it is full" },
  },
  {
    id: "why-names-each-gate-of-a-paused-run",
    means: "A paused run is told as gates that the app never wrote.",
    file: "src/core/gate/key.ts",
    from: 'return key.startsWith("run:") ? (key.split("/", 1)[0] as string) : key;',
    to: "return key;",
    noticedBy: { file: PURE, test: "is the pause of its run, once" },
  },
  {
    id: "why-decides-the-line-for-each-row",
    means:
      "A page of a long line takes as long as all of its rows one by one: seconds, where each has a tag of its own.",
    file: WORLDS,
    from: "    this.#worlds.set(key, world);",
    to: "",
    noticedBy: { file: PAGE, test: "the last hundred" },
  },
  {
    id: "why-walks-past-every-gate",
    means: "Each row of a page costs as much as there are gates in the store.",
    file: WORLDS,
    from: "if (asked.has(gate.key)) asked.set",
    to: "asked.set",
    noticedBy: { file: PAGE, test: "the first hundred" },
  },
  {
    id: "why-mistakes-one-workers-queue-for-anothers",
    means: "In a page, a unit is told what another queue waits for.",
    file: WORLDS,
    from: "[unit.queue ?? null, unit.workers ?? [], this",
    to: "[unit.queue ?? null, this",
    noticedBy: { file: PAGE, test: "gives a unit no worker" },
  },
  {
    id: "why-tells-more-of-a-front-in-a-page",
    means: "A page and the answer to one unit differ in how far fronts are followed.",
    file: EXPLAIN,
    from: "    const key = `${depth} ${id}`;",
    to: "    const key = id;",
    noticedBy: { file: PAGE, test: "says as much of those in front" },
  },
  {
    id: "why-runs-need-nobody",
    means: "A queued run without any worker says that it starts in the next pass.",
    file: "src/engine/claiming/serving.ts",
    from: "return lane.queue === RUNS && !isAttended(sessions) ? [] : serving(sessions, lane);",
    to: "return serving(sessions, lane);",
    noticedBy: LONG,
  },
  {
    id: "why-counts-pages-from-the-front",
    means: "Places in a long line are wrong behind the first page.",
    file: "src/api/run-queue.ts",
    from: "position: after + index + 1,",
    to: "position: index + 1,",
    noticedBy: LONG,
  },
  {
    id: "waits-book-a-pause-on-a-limit",
    means: "The time of a pause is booked on a limit of the run that is not full.",
    file: "src/core/gate/blocking.ts",
    from: "    if (!gate?.paused) return [reason.gate];",
    to: "    if (gate) return [reason.gate];",
    noticedBy: { file: PAUSE, test: "has waited for the pause" },
  },
  {
    id: "waits-count-the-window-during-a-pause",
    means: "While a run is paused, its items go on to wait for a window that is empty.",
    file: "src/core/gate/blocking.ts",
    from: "isFullAnyway(gate, slotsAt(gate.key)) ?",
    to: "pause !== gate.key ?",
    noticedBy: { file: PAUSE, test: "only while the window is full" },
  },
  {
    id: "waits-forget-the-window-during-a-pause",
    means: "An item of a paused run does not wait for its window, though the window is full.",
    file: "src/core/gate/blocking.ts",
    from: "isFullAnyway(gate, slotsAt(gate.key)) ?",
    to: "isFullAnyway(gate, 0) ?",
    noticedBy: { file: "src/core/gate/blocking.test.ts", test: "is recorded as both" },
  },
  {
    id: "claim-clock-runs-during-a-pause",
    means: "A step fails because its run was paused for longer than the claim timeout.",
    file: "src/engine/runs/timers.ts",
    from: "gate === uncounted || isPauseOfRun(gate)",
    to: "gate === uncounted",
    noticedBy: { file: "src/engine/runs/timers.test.ts", test: "stands still while its run is paused" },
  },
  {
    id: "why-run-skips-a-due-retry",
    means: "A later item of the list is said to come next, though the retry of an earlier one is due.",
    file: "src/store/query/run-waits.ts",
    from: "ORDER BY w.precedence, w.at, w.id LIMIT 1",
    to: "ORDER BY w.attempt, w.precedence, w.at, w.id LIMIT 1",
    noticedBy: { file: WHY_LIST, test: "on SQLite an item whose retry is due" },
  },
  {
    id: "why-run-forgets-delayed-items",
    means: "A list whose waiting items are all delayed has no reason to wait.",
    file: "src/store/query/run-waits.ts",
    from: "  return waiting[0] ?? later[0];",
    to: "  return waiting[0] ?? (later.length > 1 ? later[0] : undefined);",
    noticedBy: { file: WHY_LIST, test: "on SQLite if all waiting items are delayed" },
  },
  {
    id: "why-run-reads-twice",
    means: "The counts of a list and its next item are of two moments.",
    file: "src/api/runs.ts",
    from: "    return runWhy(seen, () => this.#store.replaced());",
    to: "    return runWhy({ ...seen, ...(await this.#detail(id)) }, () => this.#store.replaced());",
    noticedBy: { file: WHY_LIST, test: "on PostgreSQL the counts, the next item" },
  },
];
