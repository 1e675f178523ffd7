/**
 * A remedy is data that says what would end a wait, cure a finding or get past an error. Every surface writes
 * it its own way: the command line as a command, a program as a call. So nothing outside a surface spells a
 * command.
 */
export type Remedy =
  /** `limit` is absent if only a person can choose it. */
  | { readonly action: "setLimit"; readonly gate: string; readonly limit?: number }
  | { readonly action: "makeGate"; readonly gate: string; readonly limit: number }
  | { readonly action: "resetLimit"; readonly gate: string }
  | { readonly action: "listLimits" }
  | { readonly action: "makePool"; readonly pool: string; readonly limit: number }
  | { readonly action: "listPools" }
  | { readonly action: "pauseQueue"; readonly queue: string }
  | { readonly action: "resumeQueue"; readonly queue: string }
  | { readonly action: "listQueues" }
  | { readonly action: "resumeRun"; readonly run: string }
  | { readonly action: "cancelRun"; readonly run: string }
  | { readonly action: "rerun"; readonly run: string }
  /** `by` are the people who may answer, if not everybody. */
  | {
      readonly action: "approve";
      readonly run: string;
      readonly step: string;
      readonly by?: readonly string[];
    }
  | {
      readonly action: "signal";
      readonly event: string;
      /** The fields that the payload must have, and their values. What else it has, only the sender knows. */
      readonly match: Readonly<Record<string, unknown>>;
    }
  | { readonly action: "listRuns"; readonly state?: "started" }
  | { readonly action: "cancelTask"; readonly task: string }
  | { readonly action: "listTasks" }
  | { readonly action: "restoreLane"; readonly lane: string }
  | { readonly action: "listSchedules" }
  /** `queue` is absent if any worker will do. */
  | { readonly action: "startWorker"; readonly queue?: string }
  | { readonly action: "deploy" }
  | { readonly action: "migrate" }
  /** A run in progress. Its steps are explained too. */
  | { readonly action: "explainRun"; readonly run: string }
  | { readonly action: "inspect" };

export type Action = Remedy["action"];

/** The meaning of each action, and the words that introduce it at the end of an error. */
export const REMEDIES: Readonly<Record<Action, { readonly means: string; readonly lead: string }>> = {
  setLimit: { means: "Sets the limit of a gate.", lead: "Set its limit" },
  makeGate: {
    means: "Sets the limit of a gate that no app declares and nothing has asked for yet.",
    lead: "To set it before anything asks for it",
  },
  resetLimit: { means: "Resets the limit to what the apps declare.", lead: "Reset its limit" },
  listLimits: { means: "Lists every gate with its limit.", lead: "See" },
  makePool: { means: "Creates a pool that no app declares.", lead: "To create it" },
  listPools: { means: "Lists the pools.", lead: "See" },
  pauseQueue: { means: "Pauses a queue.", lead: "Pause it with" },
  resumeQueue: { means: "Resumes a queue.", lead: "Resume it with" },
  listQueues: { means: "Lists the queues.", lead: "See" },
  resumeRun: { means: "Resumes a run.", lead: "Resume it with" },
  cancelRun: { means: "Cancels a run.", lead: "Cancel it with" },
  rerun: {
    means: "Runs a finished run again. Steps that succeeded are not repeated.",
    lead: "Run it again with",
  },
  approve: { means: "Approves a step that waits for an answer.", lead: "Approve it with" },
  signal: { means: "Sends a signal of an event.", lead: "Send it with" },
  listRuns: { means: "Lists the runs.", lead: "See" },
  cancelTask: { means: "Cancels a task.", lead: "Cancel it with" },
  listTasks: { means: "Lists the tasks.", lead: "See" },
  restoreLane: { means: "Puts a lane that was set aside back in line.", lead: "When that is fixed" },
  listSchedules: { means: "Lists schedules, sensors and automations.", lead: "See" },
  startWorker: { means: "Starts a worker.", lead: "Start a worker" },
  deploy: { means: "Puts the limits of an app in force.", lead: "Deploy the app" },
  migrate: { means: "Brings the tables of the store up to date.", lead: "Run" },
  explainRun: { means: "Says what a run and its steps wait for.", lead: "See what it waits for" },
  inspect: { means: "Looks at everything in the store, including lanes that were set aside.", lead: "See" },
};

/** A remedy as a call in code. `sluice` is the return value of `connect`. */
export function callOf(remedy: Remedy): string {
  switch (remedy.action) {
    case "setLimit":
      return call("limits.set", remedy.gate, remedy.limit ?? LIMIT);
    case "makeGate":
      return call("limits.set", remedy.gate, remedy.limit, '"code"', NEW);
    case "resetLimit":
      return call("limits.reset", remedy.gate);
    case "listLimits":
      return call("limits.list");
    case "makePool":
      return call("pools.set", remedy.pool, remedy.limit, NEW);
    case "listPools":
      return call("pools.list");
    case "pauseQueue":
      return call("queues.pause", remedy.queue);
    case "resumeQueue":
      return call("queues.resume", remedy.queue);
    case "listQueues":
      return call("queues.list");
    case "resumeRun":
      return call("runs.resume", remedy.run);
    case "cancelRun":
      return call("runs.cancel", remedy.run);
    case "rerun":
      return call("runs.rerun", remedy.run);
    case "approve":
      return call("runs.approve", remedy.run, JSON.stringify(remedy.step), ...byOf(remedy.by));
    case "signal":
      return call("signal", remedy.event, payloadToFill(remedy.match));
    case "listRuns":
      return remedy.state ? `sluice.runs.list({ state: "${remedy.state}" })` : call("runs.list");
    case "cancelTask":
      return call("cancel", remedy.task);
    case "listTasks":
      return call("list");
    case "restoreLane":
      return call("restore", remedy.lane);
    case "listSchedules":
      return call("schedules.list");
    case "startWorker":
      return `sluice.worker({ file: import.meta.url${remedy.queue ? `, queues: [${JSON.stringify(remedy.queue)}]` : ""} })`;
    case "deploy":
      return call("deploy");
    case "migrate":
      return "connect({ store, migrate: true })";
    case "explainRun":
      return call("runs.why", remedy.run);
    case "inspect":
      return call("store.inspect");
  }
}

/** A placeholder for a value that a person chooses. */
export const LIMIT = "LIMIT";
const NEW = "{ isNew: true }";

const byOf = (by: readonly string[] | undefined): string[] => {
  if (by === undefined) return [];
  return [`{ by: ${by.length === 1 ? JSON.stringify(by[0]) : whoOf(by)} }`];
};

/** Who may answer: a placeholder, if a person has to say who they are. */
export const whoOf = (by: readonly string[]): string => (by.length === 1 ? (by[0] as string) : NAME);
const NAME = "NAME";

/** A payload of which only some fields are known. The hole is not JSON, so nobody sends it by mistake. */
export function payloadToFill(known: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(known).map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  return `{${[...fields, "…"].join(", ")}}`;
}

/** The first argument is a name or an ID and is quoted. The others are written as they are. */
const call = (verb: string, subject?: string, ...rest: readonly (string | number)[]): string =>
  `sluice.${verb}(${[...(subject === undefined ? [] : [JSON.stringify(subject)]), ...rest].join(", ")})`;

/** Appends the remedies to a sentence. The surface that asks says how to write each one. */
export function withRemedies(
  sentence: string,
  remedies: readonly Remedy[],
  say: (remedy: Remedy) => string,
): string {
  const said = remedies.map((remedy) => `${REMEDIES[remedy.action].lead}: ${say(remedy)}`);
  return said.length === 0 ? sentence : `${sentence} ${said.join(". ")}`;
}
