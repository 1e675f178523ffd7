/** Finds rows that contradict each other. Only a defect of ours, a restore or a change by hand can cause them. */
import type { Remedy } from "../../core/remedy.ts";
import type { Inspection, Sample } from "../../store/store.ts";
import type { Check } from "./check.ts";
import { broken, checkOf, eachOf, many } from "./check.ts";

const REPORT = "No command repairs this. Stop the workers, keep a copy of the store, and report it";
const ANEW = "Put each of them back in line: cancel it, then retry it";

type Looked = Pick<Inspection, "broken" | "rows" | "gates">;

const first = ([task = ""]: readonly string[]): Remedy => ({ action: "cancelTask", task });
const limit = (gate = ""): Remedy => ({ action: "setLimit", gate });
/** A lane may be parked without a gate. Then there is no limit to set. */
const parkedOn = ({ gates: [gate] = [] }: Sample): Remedy | undefined =>
  gate === undefined ? undefined : limit(gate);

export const invariantChecks = (seen: Looked): Check[] => [
  placesCheck(seen),
  claimsCheck(seen),
  epochsCheck(seen),
  lineCheck(seen),
  waitsCheck(seen),
  rowsCheck(seen),
];

const placesCheck = ({ broken: found, rows }: Looked): Check =>
  checkOf(
    "places",
    [
      ...broken(
        found.nowhere,
        "tasks that are in none of waiting, later, running and outcome, so they can neither run nor end",
        `${REPORT}; you can enqueue the same work again`,
      ),
      ...broken(found.twice, "tasks that are in two places at once, so they may run or end twice", REPORT),
      ...broken(
        found.bodiless,
        "rows whose task is missing",
        "Delete them by hand from the table named before the id; a restore may have left them",
      ),
    ],
    eachOf(rows.task, "unit", "each in exactly one place"),
  );

const claimsCheck = ({ broken: found, rows }: Looked): Check =>
  checkOf(
    "claims",
    [
      ...broken(found.claimedTwice, "tasks with two claims, or claims with one epoch", REPORT),
      ...broken(
        found.uncounted,
        "claims whose lane is missing, so they count at no gate",
        "They end as usual; until then their gates admit more than they should. Report it",
      ),
      ...broken(
        found.unreleased,
        "runs that have ended and still hold their slots, though none of their code runs",
        "Delete their rows from sluice_stopping by hand, so that the next runs are admitted. Report it",
      ),
    ],
    eachOf(rows.running, "claim", "each the only one of its task"),
  );

const epochsCheck = ({ broken: found }: Looked): Check =>
  checkOf(
    "epochs",
    broken(
      found.unborn,
      "epochs that have not been handed out yet, so a later claim could get the fence of an earlier one",
      "Before any worker starts, raise the counter of sluice_running.epoch above the highest epoch; a restore may have set it back",
    ),
    "the epoch (number) of each claim is handed out once",
  );

const lineCheck = ({ broken: found, rows }: Looked): Check =>
  checkOf(
    "line",
    [
      ...broken(
        found.unfindable,
        "waiting tasks that no pass would find, because nothing announces their lane",
        ANEW,
        first(found.unfindable.ids),
      ),
      ...broken(
        found.lateHeads,
        "lanes whose head is later than their first task, so a pass may start behind it",
        "Put the tasks of these lanes that wait for no reason back in line: cancel each, then retry it",
      ),
      ...broken(
        found.parkedNowhere,
        "lanes parked on a gate that does not exist, so nothing would wake them",
        "Set a limit for that gate: this creates it, and the next poll looks at them",
        parkedOn(found.parkedNowhere),
      ),
    ],
    eachOf(rows.waiting, "waiting unit", "each within sight of a pass"),
  );

const waitsCheck = ({ broken: found }: Looked): Check =>
  checkOf(
    "waits",
    [
      ...broken(
        found.leftWaits,
        "steps that wait though their run is not in progress, so a signal may go to nobody",
        "Delete their rows from sluice_wait by hand, and report it",
      ),
      ...broken(
        found.endlessWaits,
        "steps that wait though nothing can end that",
        "Cancel their runs and run them again, and report it",
      ),
      ...broken(
        found.unheardAnswers,
        "steps that have what they waited for though nobody looks at their run",
        "Pause and resume the run: this makes a worker look at it. Report it",
      ),
    ],
    "the steps that wait have a run, and something can end each wait",
  );

const rowsCheck = ({ broken: found, rows, gates }: Looked): Check =>
  checkOf(
    "rows",
    [
      ...broken(
        found.malformedGates,
        "gates whose limit, pause or line is not a known value, so they admit nobody",
        "Set the limit again; the app that declares the gate repairs its line when it starts",
        limit(found.malformedGates.ids[0]),
      ),
      ...broken(
        found.misnamedGates,
        "rows of sluice_gate with a name that no gate can have, so nobody can ask for them",
        "They bind nothing. Delete them from sluice_gate by hand; only plain SQL or an earlier version can have written them",
      ),
      ...broken(
        found.malformedTasks,
        "tasks whose asks cannot be read, so nobody knows which gates they need",
        "Cancel them and enqueue them again",
        first(found.malformedTasks.ids),
      ),
    ],
    `${many(gates.length, "gate")} and ${many(rows.task, "task")}, all readable`,
  );
