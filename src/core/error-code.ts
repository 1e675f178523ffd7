/**
 * Every code that an error of ours can have: what it means, and what to do. Codes are stable; a program may branch on
 * them. Errors that a task throws keep their own codes, whatever those are.
 */
interface CodeMeaning {
  readonly means: string;
  readonly cure: string;
}

/** What is wrong with an app, a definition or a call: nothing was changed. */
const REFUSED = {
  ALREADY_FINISHED: { means: "The task or the run has ended.", cure: "There is nothing left to cancel." },
  AMBIGUOUS_ID: { means: "An ID prefix fits more than one.", cure: "Write more of the ID." },
  ASKS_TOO_MUCH: {
    means: "A unit asks for more slots than a limit allows, or for more gates than can be kept.",
    cure: "Ask for less, or raise the limit.",
  },
  BAD_ANSWER: {
    means: "A sensor answered something else than a cursor and runs to submit.",
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
    cure: "Mend every problem it lists.",
  },
  BAD_CRON: { means: "A cron expression cannot be read.", cure: "Write five fields, like 0 6 * * 1." },
  BAD_CURSOR: {
    means: "A text is not a cursor of the feed.",
    cure: "Give the cursor of a change, as it came.",
  },
  BAD_DURATION: { means: "A duration cannot be read.", cure: "Write 30s, 5m or 1h30m." },
  BAD_GATE: { means: "A text cannot be the key of a gate.", cure: "Write a kind and a name, like pool:gpu." },
  BAD_INPUT: { means: "An input is not JSON or does not fit its schema.", cure: "Give an input that fits." },
  BAD_ITEMS: {
    means: "The list of a fan-out step is not a list, or is too long.",
    cure: "Return a list that fits.",
  },
  BAD_KEY: {
    means: "A sensor submits a run without a usable key.",
    cure: "Give each submission a key of its own.",
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
    means: "Options contradict each other, or one of them is out of range.",
    cure: "Change the option that the error names.",
  },
  BAD_PAGE: {
    means: "The size or the start of a page is not a whole number.",
    cure: "Give a whole number within the range.",
  },
  BAD_POLL: {
    means: "A poll interval is so short that looking would keep a processor busy.",
    cure: "Poll less often.",
  },
  BAD_POOL: {
    means: "A task asks for a pool that its app does not declare.",
    cure: "Declare the pool, or ask for another.",
  },
  BAD_PRIORITY: { means: "A priority is not a whole number within the range.", cure: "Give a whole number." },
  BAD_RANK: {
    means: "The rank of a queue is not a whole number within the range.",
    cure: "Give a whole number.",
  },
  BAD_SLOTS: {
    means: "A number of slots is not a whole number of at least 1.",
    cure: "Give a whole number.",
  },
  BAD_STORE_URL: { means: "A URL does not name a store.", cure: "Write file:…, postgres://… or mysql://…." },
  BAD_TAG: { means: "A tag of a run cannot be used.", cure: "Change the tag that the error names." },
  BAD_TEXT: {
    means: "A name, a key or another text is empty, too long or holds control characters.",
    cure: "Change the text that the error names.",
  },
  BAD_WORKFLOW: {
    means: "The steps of a workflow are wired in a way that cannot run.",
    cure: "Change the step that the error names.",
  },
  GATE_IN_USE: {
    means: "A gate cannot be deleted: an app declares it, or units ask for it.",
    cure: "Take it out of the app, or reset its limit.",
  },
  NOT_ASIDE: { means: "The task, run or lane was not set aside.", cure: "Look at what was set aside." },
  NOT_DIRECT: {
    means: "The workflow holds mutexes or pools, so it cannot be executed past the line.",
    cure: "Submit it instead.",
  },
  NOT_FINISHED: { means: "Only what has ended can be run again.", cure: "Wait for its end, or cancel it." },
  NOT_IN_PROGRESS: {
    means: "Only a run in progress can be paused or resumed.",
    cure: "Look at the state of the run.",
  },
  NOT_JSON: { means: "A value has no JSON form.", cure: "Hand over plain data." },
  NOT_QUEUED: { means: "The run is no longer in line.", cure: "Cancel the run itself." },
  NO_APP: { means: "The call needs an app, and none was connected.", cure: "connect({ app })." },
  NO_APP_FILE: {
    means: "The file of the app is not there, or was not named.",
    cure: "Name the file that exports the app.",
  },
  NO_CALLER_TRANSACTION: {
    means: "This store cannot enqueue inside the caller's transaction.",
    cure: "Use PostgreSQL, or enqueue after the commit with an idempotency key.",
  },
  NO_ITEMS: { means: "The step has no items.", cure: "Look at the run." },
  NO_OWNER: { means: "A Kubernetes executor has no owner.", cure: "Name this installation." },
  NO_PARENT: {
    means: "A process that serves a parent was not started by one.",
    cure: "Let a worker start it.",
  },
  NO_QUEUES: { means: "A worker would serve no queue.", cure: "Name one, or leave the list out." },
  NO_STEP: { means: "A pod was not told which step to run.", cure: "Let the Kubernetes executor start it." },
  NO_STORE: { means: "There is no store at this path.", cure: "Start one, or name another." },
  NO_VALUE_YET: {
    means: "A workflow computes with a value that is known only when it runs.",
    cure: "Move the computation into a step.",
  },
  PART_OF_A_RUN: { means: "A step cannot be retried alone.", cure: "Run its run again." },
  STARTED: { means: "An executor was started twice.", cure: "Start it once." },
  SUCCEEDED: {
    means: "The task has succeeded, and running it again would repeat its effects.",
    cure: "Force it if you want that.",
  },
  TRIGGER_TAKEN: {
    means: "Another app owns a schedule, sensor or automation of this name.",
    cure: "Choose another ID, or deploy the other app without it.",
  },
  UNKNOWN_GATE: {
    means: "No app declares this gate and nothing asks for it.",
    cure: "Check the name, or make the gate.",
  },
  UNKNOWN_ID: { means: "No task or run has this ID.", cure: "List those that are there." },
  UNKNOWN_KIND: {
    means: "The feed tells no changes of this kind.",
    cure: "Use one of the kinds of events.",
  },
  UNKNOWN_POOL: { means: "There is no pool of this name.", cure: "Check the name, or make the pool." },
  UNKNOWN_QUEUE: { means: "There is no queue of this name.", cure: "Check the name, or declare the queue." },
  UNKNOWN_SCHEDULE: {
    means: "There is no schedule, sensor or automation of this ID.",
    cure: "List those that are there.",
  },
  UNKNOWN_STEP: {
    means: "The run has no step of this name.",
    cure: "Use one of the names that the error lists.",
  },
  UNKNOWN_TASK: { means: "The app has no task of this name.", cure: "Add it to the app." },
  UNKNOWN_WORKFLOW: { means: "The app has no workflow of this name.", cure: "Add it to the app." },
} as const satisfies Record<string, CodeMeaning>;

/** What is wrong with the store or with what lies between it and us. */
const OF_STORE = {
  AMBIGUOUS_COMMIT: {
    means: "The connection was lost during a commit, so it may or may not have happened.",
    cure: "Nothing: the worker looks again. A call of your own should be made with an idempotency key.",
  },
  BAD_DATA: {
    means: "The database refused a value or cannot read a row.",
    cure: "Read the cause; a worker sets the lane aside and goes on.",
  },
  FEED_EXPIRED: {
    means: "The feed cannot go on without a gap: the cursor is too old, or the reader was too slow.",
    cure: "Start again from now, without a cursor, and read afresh what you show.",
  },
  MIGRATION_BUSY: { means: "Another process migrates this store.", cure: "Wait for it, then migrate again." },
  NOT_DURABLE: {
    means: "SQLite would not promise that a commit survives a power cut.",
    cure: "Use another build of SQLite.",
  },
  POOLER_IN_BETWEEN: {
    means: "A connection pooler in transaction mode stands before PostgreSQL.",
    cure: "Connect to the server, or open the store with pooler: true.",
  },
  SCHEMA_MISSING: { means: "The tables of the store are missing or old.", cure: "Migrate the store." },
  SCHEMA_NEWER: { means: "A newer version has migrated the store.", cure: "Upgrade." },
  STORE_CLOSED: {
    means: "The store was closed while somebody followed its feed.",
    cure: "Connect again.",
  },
  STORE_FULL: { means: "The disk of the store is full.", cure: "Make room; work resumes by itself." },
  STORE_READ_ONLY: { means: "The database takes no writes.", cure: "Use the primary." },
  STORE_UNREACHABLE: {
    means: "The store did not answer.",
    cure: "Check its address and that it runs; workers try again.",
  },
} as const satisfies Record<string, CodeMeaning>;

/** How an attempt, a task or a run ended: these codes are stored with it. */
const OF_ENDING = {
  ABORTED: {
    means: "The attempt was told to stop, without a reason that has a code.",
    cure: "Read the message.",
  },
  CANCELLED: { means: "Somebody cancelled it.", cure: "Retry it if that was a mistake." },
  CLAIM_TIMEOUT: {
    means: "A step waited longer for its pools than a claim may wait.",
    cure: "Raise the limit of the pool, or the claim timeout.",
  },
  EXPIRED: {
    means: "Its deadline passed before it could start.",
    cure: "Give it more time, or more workers.",
  },
  LEASE_LOST: {
    means: "Its worker was gone or silent for longer than its lease.",
    cure: "It is tried again as its retry allows; make the task idempotent.",
  },
  MALFORMED_RUN: {
    means: "The stored run cannot be read or moved on.",
    cure: "Submit it again, and report it.",
  },
  NOT_BEGUN: {
    means: "No process could begin it in time; its attempt is given back.",
    cure: "Nothing: it returns to the line.",
  },
  NOT_RUNNING: { means: "The processes of the executor are not running.", cure: "Start the worker again." },
  PROCESS_DIED: {
    means: "The process that ran it died.",
    cure: "Read the exit code or the signal; it is tried again as its retry allows.",
  },
  PROCESS_NOT_STARTED: { means: "A child process could not start.", cure: "Read why the app did not load." },
  QUARANTINED: {
    means: "It lost its worker three times, so it may be what kills workers.",
    cure: "Find out why, then retry it by hand.",
  },
  RESULT_NOT_JSON: { means: "A result has no JSON form.", cure: "Return plain data." },
  RESULT_NOT_STORED: {
    means: "What it ended with could not be stored.",
    cure: "Return something smaller or simpler.",
  },
  RESULT_TOO_LARGE: {
    means: "The result is larger than a pod can hand over.",
    cure: "Store the data elsewhere and return where it is.",
  },
  RUN_TIMEOUT: { means: "The run took longer than its timeout.", cure: "Give it more time." },
  SET_ASIDE: {
    means: "A lane could not be processed and waits apart; everything else goes on.",
    cure: "Cure what is wrong with it, then restore the lane.",
  },
  START_TIMEOUT: {
    means: "The run was let in and nobody started it in time.",
    cure: "Check that a worker runs.",
  },
  STEPS_FAILED: {
    means: "One or more steps of the run did not succeed.",
    cure: "Look at the steps, then run it again.",
  },
  TIMEOUT: {
    means: "An attempt took longer than its timeout.",
    cure: "Give it more time, or make it faster.",
  },
  WORKER_STOPPED: {
    means: "The worker stopped before the task was done.",
    cure: "Nothing: the task returns to the line.",
  },
} as const satisfies Record<string, CodeMeaning>;

/** Steps in pods. */
const OF_PODS = {
  INPUT_TOO_LARGE: {
    means: "The input is larger than a pod can be told.",
    cure: "Store the data elsewhere and hand over where it is.",
  },
  KUBERNETES_AWAY: { means: "The Kubernetes API gave no answer.", cure: "Nothing: it is asked again." },
  KUBERNETES_REFUSED: {
    means: "The Kubernetes API refused a request.",
    cure: "Check the permissions of the service account.",
  },
  NO_CLUSTER: {
    means: "No cluster can be reached with the given configuration.",
    cure: "Check the kubeconfig.",
  },
  NO_KUBERNETES_CLIENT: {
    means: "The package for Kubernetes is not installed.",
    cure: "Install @kubernetes/client-node.",
  },
  NO_POD: { means: "The step does not say in which pod it runs.", cure: "Name an image." },
  NO_RESULT: {
    means: "The pod succeeded, but the end of its log holds no result.",
    cure: "Let its command run the step, or print the result line.",
  },
  POD_FAILED: { means: "The pod ended with an error.", cure: "Read its log." },
  POD_LOST: {
    means: "The pod is gone, and nobody knows how it ended.",
    cure: "It is tried again as its retry allows.",
  },
  POD_NAME_TAKEN: { means: "A pod of this name was made for something else.", cure: "Delete it." },
  POD_NOT_STARTED: { means: "The pod did not start in time.", cure: "Check image, resources and quotas." },
  POD_OUT_OF_MEMORY: { means: "The pod used more memory than it may.", cure: "Raise its memory limit." },
  POD_STOPPED: { means: "The pod was told to stop.", cure: "It is tried again as its retry allows." },
  RESULT_CUT_OFF: { means: "The line with the result is cut off in the log.", cure: "Return less." },
  RESULT_LOST: {
    means: "The log with the result could not be read.",
    cure: "It is tried again as its retry allows.",
  },
} as const satisfies Record<string, CodeMeaning>;

export const ERROR_CODES = { ...REFUSED, ...OF_STORE, ...OF_ENDING, ...OF_PODS } as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The codes by what they are about, for people who look one up. */
export const ERROR_GROUPS: readonly (readonly [
  title: string,
  codes: Readonly<Record<string, CodeMeaning>>,
])[] = [
  ["Refused: nothing was changed", REFUSED],
  ["About the store", OF_STORE],
  ["How something ended", OF_ENDING],
  ["Steps in pods", OF_PODS],
];

export const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(ERROR_CODES, text);
