/** The codes of our errors, with meaning and cure. They are stable. Errors that a task throws keep their own. */
import { OF_LOCKS } from "./lock-error-code.ts";
import { OF_PODS } from "./pod-error-code.ts";

interface CodeMeaning {
  readonly means: string;
  readonly cure: string;
}

/** Problems with an app, a definition or a call. Nothing was changed. */
const REFUSED = {
  ALREADY_FINISHED: {
    means: "The task or the run has ended.",
    cure: "Nothing: there is nothing left to cancel.",
  },
  AMBIGUOUS_ID: { means: "More than one ID starts with this prefix.", cure: "Type more of the ID." },
  ASKS_TOO_MUCH: {
    means: "A unit asks for more slots than a limit allows, or for more gates than the store can keep.",
    cure: "Ask for less, or raise the limit.",
  },
  BAD_ANSWER: {
    means: "A sensor returned something other than a cursor and runs to submit.",
    cure: "Return { cursor, submit }.",
  },
  BAD_APP: {
    means: "An app file could not be loaded, or its default export is not an app.",
    cure: "Export default defineApp({ … }).",
  },
  BAD_CLAIM_BOUND: {
    means: "A bound on what a worker claims is not a whole number.",
    cure: "Give a whole number.",
  },
  BAD_CONFIG: {
    means: "An app breaks one or more rules; the error lists each with its cure.",
    cure: "Fix every problem it lists.",
  },
  BAD_CRON: { means: "A cron expression cannot be read.", cure: "Write five or six fields, like 0 6 * * 1." },
  BAD_CURSOR: {
    means: "The text is not a cursor of the feed.",
    cure: "Pass the cursor of a change, unchanged.",
  },
  BAD_DURATION: { means: "A duration cannot be read.", cure: "Write 30s, 5m or 1h30m." },
  BAD_GATE: {
    means: "The text cannot be the key of a gate.",
    cure: "Write a kind and a name, like pool:gpu.",
  },
  BAD_INPUT: {
    means: "An input is not JSON or does not match its schema.",
    cure: "Pass an input that matches.",
  },
  BAD_ITEMS: {
    means: "The items of a step over a list are not a list, or its concurrency is not a whole number.",
    cure: "Pass a list, and a concurrency of 1 or more.",
  },
  BAD_KEY: {
    means: "A sensor submits a run without a key, or with a key that is not valid text.",
    cure: "Give each submission its own key.",
  },
  BAD_LEASE: {
    means: "A lease is too short, too long or not a number.",
    cure: "Give a lease within the range that the error names.",
  },
  BAD_LIMIT: {
    means: "A limit is not a whole number.",
    cure: "Give 1 or more, 0 to pause, or -1 for unlimited.",
  },
  BAD_OPTIONS: {
    means: "An option is unknown or out of range, or options contradict each other.",
    cure: "Change the option that the error names.",
  },
  BAD_PAGE: {
    means: "The size or the start of a page is not a whole number.",
    cure: "Give a whole number within the range that the error names.",
  },
  BAD_POLL: {
    means: "A poll interval is so short that polling would keep a CPU busy.",
    cure: "Poll less often.",
  },
  BAD_POOL: {
    means: "A task asks for a pool that its app does not declare.",
    cure: "Declare the pool, or ask for another.",
  },
  BAD_PRIORITY: {
    means: "A priority is not a whole number, or is out of range.",
    cure: "Give a whole number.",
  },
  BAD_RANK: {
    means: "The rank of a queue is not a whole number, or is out of range.",
    cure: "Give a whole number.",
  },
  BAD_SCHEDULE: {
    means: "A schedule that is set at run time breaks one or more rules.",
    cure: "Fix every problem that the error lists.",
  },
  BAD_SLOTS: {
    means: "A number of slots is not a whole number of at least 1.",
    cure: "Give a whole number.",
  },
  BAD_STORE_URL: { means: "A URL does not name a store.", cure: "Write file:…, postgres://… or mysql://…." },
  BAD_SIGNAL: {
    means: "The payload of a signal does not match the schema of its event, or has too many fields.",
    cure: "Send a payload that matches.",
  },
  BAD_TAG: { means: "The key or value of a tag is not valid.", cure: "Change the tag that the error names." },
  BAD_TEXT: {
    means: "A name, a key or another text is empty, too long or holds control characters.",
    cure: "Change the text that the error names.",
  },
  BAD_WORKFLOW: {
    means: "The graph of a workflow cannot run.",
    cure: "Change the step that the error names.",
  },
  DECLARED_SCHEDULE: {
    means: "The schedule comes from an app, so it cannot be removed at run time.",
    cure: "Remove it from the app and deploy, or pause it.",
  },
  GATE_IN_USE: {
    means: "A gate cannot be deleted: an app declares it, or units ask for it.",
    cure: "Remove it from the app, or reset its limit.",
  },
  NOT_ASIDE: {
    means: "The task, run or lane was not set aside, so there is nothing to restore.",
    cure: "List what was set aside.",
  },
  NESTED_TOO_DEEP: {
    means: "A step calls a workflow that is nested in too many others, as in a recursion without an end.",
    cure: "Give the recursion a condition that ends it.",
  },
  NOT_FINISHED: {
    means: "Only a finished task or run can be run again.",
    cure: "Wait until it ends, or cancel it.",
  },
  NOT_ALLOWED: {
    means: "The step names the people who may answer, and the caller is none of them.",
    cure: "Let one of them answer.",
  },
  NOT_IN_PROGRESS: {
    means: "Only a run in progress can be paused or resumed.",
    cure: "Use runs show to see the state of the run.",
  },
  NOT_JSON: { means: "A value has no JSON form.", cure: "Pass plain data." },
  NOT_QUEUED: { means: "The run is no longer in line.", cure: "Cancel it with runs cancel." },
  NOT_WAITING: {
    means: "The step does not wait for an answer of a person, or has one already.",
    cure: "Use runs show to see the state of the step.",
  },
  NO_APP: {
    means: "The call needs an app, and none was connected.",
    cure: "Pass the app: connect({ app }).",
  },
  NO_APP_FILE: {
    means: "The app file does not exist, or the call does not name it.",
    cure: "Name the file that exports the app.",
  },
  NO_CALLER_TRANSACTION: {
    means: "This store cannot enqueue inside the caller's transaction.",
    cure: "Use PostgreSQL, or enqueue after the commit with an idempotency key.",
  },
  NO_CLIENT: {
    means:
      "The code of a task has asked for the store of its worker, and there is no way to it, as in a pod.",
    cure: "Return what is to be done, and let a later step do it.",
  },
  NO_ITEMS: {
    means: "The step is not a step over a list, or has not put its items in line yet.",
    cure: "Use runs show to see the steps of the run.",
  },
  NO_OWNER: { means: "A Kubernetes executor has no owner.", cure: "Name this installation." },
  NO_PARENT: {
    means: "A child process of a worker was started by hand.",
    cure: "Let a worker start it.",
  },
  NO_QUEUES: {
    means: "The list of queues for a worker is empty.",
    cure: "Name a queue, or leave the list out.",
  },
  NO_STEP: {
    means: "The variable SLUICE_STEP is missing, so the pod does not know its step.",
    cure: "Let the Kubernetes executor start it.",
  },
  NO_STORE: {
    means: "There is no store at this path.",
    cure: "Check the path, or start development mode, which creates a store.",
  },
  NO_VALUE_YET: {
    means: "The definition of a workflow computes with a reference, whose value does not exist yet.",
    cure: "Compute in a task.",
  },
  PART_OF_A_RUN: {
    means:
      "The task or the run is a step of a run, so it cannot be retried, run again, paused or resumed alone.",
    cure: "Do it with the whole run, for example with runs rerun.",
  },
  STARTED: { means: "An executor was started twice.", cure: "Start it once." },
  SUCCEEDED: {
    means: "The task has succeeded, so running it again would repeat its effects.",
    cure: "Force it if you want that.",
  },
  TASK_ENDED: {
    means: "The code of a task has called the client of its context after the code had ended.",
    cure: "Await every call of the client before the code returns.",
  },
  TRIGGER_TAKEN: {
    means: "Another app owns a schedule, sensor or automation with this name.",
    cure: "Choose another ID, or remove it from the other app and deploy that app.",
  },
  UNKNOWN_EVENT: {
    means: "No workflow of the app waits for an event with this name.",
    cure: "Check the name. To send an event of another app, pass the event itself.",
  },
  UNKNOWN_GATE: {
    means: "No app declares this gate and nothing asks for it.",
    cure: "Check the name, or ask for a new gate.",
  },
  UNKNOWN_ID: { means: "No task or run has this ID.", cure: "List the tasks or the runs to find the ID." },
  UNKNOWN_KIND: {
    means: "The feed has no changes of this kind.",
    cure: "Use one of the kinds of events.",
  },
  UNKNOWN_POOL: { means: "No pool has this name.", cure: "Check the name, or create the pool." },
  UNKNOWN_QUEUE: { means: "No queue has this name.", cure: "Check the name, or declare the queue." },
  UNKNOWN_SCHEDULE: {
    means: "No schedule, sensor or automation has this ID.",
    cure: "List the schedules.",
  },
  UNKNOWN_STEP: {
    means: "The run has no step with this name.",
    cure: "Use one of the names that the error lists.",
  },
  UNKNOWN_TASK: { means: "The app has no task with this name.", cure: "Add it to the app." },
  UNKNOWN_WORKFLOW: { means: "The app has no workflow with this name.", cure: "Add it to the app." },
} as const satisfies Record<string, CodeMeaning>;

/** Problems with the store or the connection to it. */
const OF_STORE = {
  AMBIGUOUS_COMMIT: {
    means: "The connection was lost during a commit, so the commit may or may not have happened.",
    cure: "A worker finds out by itself. Give your own calls an idempotency key, and repeat them.",
  },
  BAD_DATA: {
    means: "The database refused a value or cannot read a row.",
    cure: "Read the cause. A worker sets the lane aside and continues with other work.",
  },
  CLOSED: {
    means: "The store was closed before the call or during it, or while somebody followed its feed.",
    cure: "Connect again.",
  },
  FEED_EXPIRED: {
    means:
      "The feed cannot continue without a gap: the cursor is too old, or the reader was more than an hour behind.",
    cure: "Start again from now, without a cursor, and read again what you show.",
  },
  MIGRATION_BUSY: {
    means: "Another process is migrating this store.",
    cure: "Wait for it, then migrate again.",
  },
  NOT_DURABLE: {
    means: "This build of SQLite does not guarantee that a commit survives a power cut.",
    cure: "Use another build of SQLite.",
  },
  POOLER_IN_BETWEEN: {
    means: "A connection pooler in transaction mode is between Sluice and PostgreSQL.",
    cure: "Connect to the server directly, or open the store in code: openPostgres({ url, pooler: true }).",
  },
  SCHEMA_MISSING: { means: "The tables of the store are missing or old.", cure: "Migrate the store." },
  SCHEMA_NEWER: { means: "A newer version of Sluice has migrated the store.", cure: "Upgrade Sluice." },
  STORE_FULL: {
    means: "The disk of the store is full.",
    cure: "Free some space. Work resumes automatically.",
  },
  STORE_GONE: {
    means:
      "The file of the store was deleted, moved, replaced or emptied while it was open. Its workers have stopped.",
    cure: "Put the right file back, then start again.",
  },
  STORE_READ_ONLY: { means: "The database accepts no writes.", cure: "Connect to the primary server." },
  STORE_REFUSED: {
    means: "The store was reached, but it refused the request.",
    cure: "Read the cause. It is usually a password, a permission, a missing database or a setting. A running worker tries again by itself. A worker that is just starting exits with code 1.",
  },
  STORE_UNREACHABLE: {
    means: "The store could not be reached, or the connection to it was lost.",
    cure: "Check its address, and that it is running. A running worker tries again by itself. A worker that is just starting exits with code 1.",
  },
} as const satisfies Record<string, CodeMeaning>;

/** How an attempt, a task or a run ended. These codes are stored with it. */
const OF_ENDING = {
  ABORTED: {
    means: "The attempt was aborted for a reason that has no code of its own.",
    cure: "Read the message.",
  },
  BAD_WAIT: {
    means: "The time, the match or the question of a step that waits makes no sense once it is known.",
    cure: "Read the message. Pass a time with a time zone, or a value for each field to match.",
  },
  CANCELLED: { means: "The task, step or run was cancelled.", cure: "Retry it if that was a mistake." },
  CLAIM_TIMEOUT: {
    means: "A step that asks for pools or mutexes waited longer than SLUICE_CLAIM_TIMEOUT.",
    cure: "Raise the limit that the message names, or the claim timeout.",
  },
  DATA_TOO_LARGE: { means: "A step needs more than 64 MB of data at once.", cure: "Pass on references." },
  EXPIRED: {
    means: "The deadline (`goodUntil`) passed before the task started.",
    cure: "Give a later deadline, or add workers.",
  },
  LEASE_LOST: {
    means: "The worker did not renew the lease in time: it died, was frozen, or could not reach the store.",
    cure: "The option retry decides whether another attempt follows. Make the task idempotent.",
  },
  MALFORMED_RUN: {
    means:
      "The stored run cannot be read, or the database refused the next step of the run. The row of the run was damaged, or a value is too large.",
    cure: "Read the message. Pass smaller values between steps, or submit the run again.",
  },
  NOT_BEGUN: {
    means: "No process could begin the task in time. The attempt does not count.",
    cure: "Nothing: the task goes back in line.",
  },
  NOT_RUNNING: {
    means: "The child processes of the worker are not running.",
    cure: "Start the worker again.",
  },
  PROCESS_DIED: {
    means: "The child process that ran the task died.",
    cure: "Read the exit code or the signal. The option retry decides whether another attempt follows.",
  },
  PROCESS_ENDED: {
    means:
      "The worker ended the child process that ran the task, because another task in it did not stop after a timeout or a cancel.",
    cure: "Make the task that the error names listen to its signal, or run it in a worker with a concurrency of 1. The option retry decides whether another attempt follows.",
  },
  PROCESS_NOT_STARTED: {
    means: "A child process could not start.",
    cure: "Read the message. Usually the app could not be loaded.",
  },
  QUARANTINED: {
    means: "The task lost its process or worker three times, so its code may be the cause.",
    cure: "Find the cause, then retry the task by hand.",
  },
  REJECTED: { means: "A person rejected the step.", cure: "Read their note." },
  RESULT_NOT_JSON: { means: "A result has no JSON form.", cure: "Return plain data." },
  RESULT_NOT_STORED: {
    means: "The store refused the result or the error of the task.",
    cure: "Return something smaller or simpler.",
  },
  RESULT_TOO_LARGE: {
    means: "The result is too large for a pod to return.",
    cure: "Store the data elsewhere and return a reference to it.",
  },
  RUN_TIMEOUT: { means: "The run took longer than its timeout.", cure: "Raise the timeout of the workflow." },
  SET_ASIDE: {
    means: "A pass could not process a lane, so it set the lane aside. All other work continues.",
    cure: "Fix the cause, then restore the lane.",
  },
  START_TIMEOUT: {
    means: "The run was admitted, but no worker started it in time.",
    cure: "Check that a worker is running.",
  },
  STEPS_FAILED: {
    means: "One or more steps of the run did not succeed.",
    cure: "Use runs show to see which steps failed. Fix the cause, then run it again.",
  },
  TIMEOUT: {
    means: "An attempt took longer than its timeout.",
    cure: "Raise the timeout, or make the code faster.",
  },
  WAIT_TIMEOUT: {
    means: "A step waited for an event or a person, and the timeout passed.",
    cure: "Raise the timeout, or give the step an otherwise.",
  },
  WORKER_STOPPED: {
    means: "The worker stopped before the task was done.",
    cure: "Nothing: the task goes back in line.",
  },
} as const satisfies Record<string, CodeMeaning>;

export const ERROR_CODES = { ...REFUSED, ...OF_STORE, ...OF_ENDING, ...OF_LOCKS, ...OF_PODS } as const;

export type ErrorCode = keyof typeof ERROR_CODES;

type Codes = Readonly<Record<string, CodeMeaning>>;

/** The codes grouped by topic, for readers who look one up. */
export const ERROR_GROUPS: readonly (readonly [title: string, codes: Codes])[] = [
  ["Refused: nothing was changed", REFUSED],
  ["About the store", OF_STORE],
  ["How something ended", OF_ENDING],
  ["Locks", OF_LOCKS],
  ["Steps in pods", OF_PODS],
];

export const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(ERROR_CODES, text);
