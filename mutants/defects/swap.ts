/** The short way through a pass. */
import type { Defect } from "../defect.ts";

const STORE = "src/store/query/swap.ts";
const ENGINE = "src/engine/claiming/short-way.ts";
const RACE = "test/race/swap.test.ts";
const SUITE = "test/conformance/store.test.ts";
const ENGINE_TEST = "src/engine/claiming/short-way.test.ts";
const AS_WHOLE = "a worker that takes the short way claims exactly what it would claim";

export const defects: readonly Defect[] = [
  {
    id: "swap-gates-not-shared",
    means: "units start under a limit that was lowered at the same moment",
    file: STORE,
    from: "ORDER BY name${forShare}`",
    to: "ORDER BY name`",
    noticedBy: { file: RACE, test: "on PostgreSQL a swap waits for a change" },
  },
  {
    id: "swap-session-not-checked",
    means: "a worker whose session is over claims on",
    file: STORE,
    from: "(${alive}) = 1",
    to: "(${alive}) <= 1",
    noticedBy: { file: SUITE, test: "claims nothing: its session is over" },
  },
  {
    id: "swap-new-session-not-seen",
    means: "a worker that has just started waits for its part of a scarce gate",
    file: STORE,
    from: "THEN 0 ELSE 2 END",
    to: "THEN 0 ELSE 0 END",
    noticedBy: { file: SUITE, test: "claims nothing: another session has begun" },
  },
  {
    id: "swap-limit-not-compared",
    means: "a gate above its new limit is filled on and on",
    file: STORE,
    from: "COALESCE(k.capacity, ${none}) = g.capacity AND ",
    to: "",
    noticedBy: { file: SUITE, test: "claims nothing: the limit of a gate was lowered" },
  },
  {
    id: "swap-pause-not-compared",
    means: "a paused queue goes on",
    file: STORE,
    from: " AND k.paused = g.paused",
    to: "",
    noticedBy: { file: SUITE, test: "claims nothing: a gate was paused" },
  },
  {
    id: "swap-parked-lane-not-seen",
    means: "a lane that waits parked for a gate is overtaken on and on",
    file: STORE,
    from: "AND (SELECT l.id FROM sluice_lane l WHERE l.parked ${oneOf(parkedOn)} LIMIT 1) IS NULL",
    to: "",
    noticedBy: { file: RACE, test: "on PostgreSQL a swap waits for a pass that parks" },
  },
  {
    id: "swap-takes-expired",
    means: "a unit starts after its deadline",
    file: STORE,
    from: "i.before_id) AND (w.good_until IS NULL OR w.good_until > ${now})",
    to: "i.before_id)",
    noticedBy: { file: SUITE, test: "none that has expired" },
  },
  {
    id: "swap-counts-stale-reports",
    means: "a report that is sent again frees its slots again, so a limit is exceeded",
    file: STORE,
    from: "${SETTLED} = ${String(finished.length)} AND ",
    to: "",
    noticedBy: { file: RACE, test: "on PostgreSQL the same report twice" },
  },
  {
    id: "swap-epoch-not-checked",
    means: "a worker that lost a claim ends the claim of another one",
    file: "src/store/query/settle.ts",
    from: "AND r.epoch = (reports.by_unit -> r.id ->> 0)::bigint",
    to: "",
    noticedBy: { file: SUITE, test: "an older epoch of a claim settles nothing" },
  },
  {
    id: "swap-closed-lane",
    means: "units of a lane that was set aside start",
    file: STORE,
    from: "ON l.id = i.lane AND l.state = ${OPEN}",
    to: "ON l.id = i.lane",
    noticedBy: { file: SUITE, test: "claims nothing: its own lane is not open" },
  },
  {
    id: "swap-overtakes-lane",
    means: "the units of one task start before better-placed units of another",
    file: ENGINE,
    from: "    if (fence && compare(one.first, fence) >= 0) return undefined;\n",
    to: "",
    also: [{ from: "before: fence?.rank === one.lane.rank ? fence : null", to: "before: null" }],
    noticedBy: { file: ENGINE_TEST, test: AS_WHOLE },
  },
  {
    id: "swap-overtakes-within-exchange",
    means: "the second unit of an exchange starts before a better-placed unit of another lane",
    file: ENGINE,
    from: "before: fence?.rank === one.lane.rank ? fence : null",
    to: "before: null",
    noticedBy: { file: ENGINE_TEST, test: AS_WHOLE },
  },
  {
    id: "swap-despite-hint",
    means: "urgent work waits for many exchanges",
    file: ENGINE,
    from: "return !isDraining && !hinted && finished.length > 0",
    to: "return !isDraining && finished.length > 0",
    noticedBy: { file: ENGINE_TEST, test: "the short way is taken until a hint comes" },
  },
  {
    id: "swap-for-ever",
    means: "lost claims and other lanes wait for as long as a line lasts",
    file: ENGINE,
    from: "this.#swaps >= MOST ||",
    to: "",
    noticedBy: { file: ENGINE_TEST, test: "the short way is taken until a hint comes" },
  },
  {
    id: "swap-on-an-old-picture",
    means: "a slow worker decides by what it saw long ago",
    file: ENGINE,
    from: " ||\n      this.#clock() > this.#until",
    to: "",
    noticedBy: { file: ENGINE_TEST, test: "what a whole pass saw is trusted" },
  },
  {
    id: "swap-while-draining",
    means: "a lowered limit is never reached",
    file: ENGINE,
    from: "return !draining({ limit: rule.limit, held: plan.held.get(gate) ?? 0 });",
    to: "return true;",
    noticedBy: { file: ENGINE_TEST, test: "a gate above its limit drains" },
  },
  {
    id: "swap-above-the-fair-part",
    means: "a worker keeps more than its part of a scarce gate",
    file: ENGINE,
    from: "if (answer.more || !fair || yielded || ended) return false;",
    to: "if (answer.more || ended) return false;",
    noticedBy: { file: ENGINE_TEST, test: "a worker above its fair part" },
  },
];
