import type { Defect } from "../defect.ts";

const MODEL = {
  file: "src/core/gate/admit.properties.test.ts",
  test: "decision, reasons and marks are those of",
};
const ORDER = "test/locks/order.test.ts";
const NAMES = "test/locks/names.test.ts";
const NAMESPACES = "test/locks/namespaces.test.ts";
const FILES = "test/locks/files.test.ts";
const SELF = "test/locks/self-deadlock.test.ts";
const STORE = "test/conformance/store.test.ts";

/** Locks: their names and lines, namespaces of runs, limits from files, and releases by hand. */
export const defects: readonly Defect[] = [
  {
    id: "ask-line-ignored",
    means: "a lock with the line skip holds others back at the locks where it could pass",
    file: "src/core/gate/gate.ts",
    from: "): Line => line ?? gate.line;",
    to: "): Line => (line === undefined ? gate.line : gate.line);",
    noticedBy: MODEL,
  },
  {
    id: "ask-line-not-stored",
    means: "a lock's own line is lost between the app and the store",
    file: "src/core/gate/asks.ts",
    from: "line === undefined ? [gate, slots] : [gate, slots, line];",
    to: "line === undefined ? [gate, slots] : [gate, slots];",
    noticedBy: { file: ORDER, test: "on memory a lock with the line skip" },
  },
  {
    id: "passing-lane-takes-a-place",
    means: "a lane that lets others pass hides one that the line keeps slots for",
    file: "src/store/parked.ts",
    from: 'return line === "skip" ? -slots : slots;',
    to: "return line ? slots : slots;",
    noticedBy: { file: STORE, test: "is shown as one that a line keeps slots for only if" },
  },
  {
    id: "namespace-not-in-key",
    means: "equal names of two namespaces are one lock",
    file: "src/core/gate/lock.ts",
    from: "namespace ?? ofRun;",
    to: 'namespace ?? "default";',
    noticedBy: { file: NAMESPACES, test: "on memory a run has the namespace of its submission" },
  },
  {
    id: "children-lose-the-namespace",
    means: "a child run has the default namespace, whatever its root has",
    file: "src/engine/runs/child.ts",
    from: "    namespace: namespaceOf(home, step),\n",
    to: "",
    noticedBy: { file: NAMESPACES, test: "on memory a run has the namespace of its submission" },
  },
  {
    id: "namespace-limit-added",
    means: "a namespace cannot have more runs in progress than each other one",
    file: "src/core/gate/kind.ts",
    from: 'kindOf(key) === "namespace";',
    to: 'kindOf(key) === "namespaces";',
    noticedBy: { file: NAMESPACES, test: "on memory the parallelism of the engine and of each namespace" },
  },
  {
    id: "runs-pass-the-engine",
    means: "a submitted run does not ask for the parallelism of the engine",
    file: "src/core/workflow/run-asks.ts",
    from: "  { gate: engineKey, slots: 1 },\n",
    to: "",
    noticedBy: { file: NAMESPACES, test: "on memory the parallelism of the engine and of each namespace" },
  },
  {
    id: "text-of-nothing",
    means: "a text with a missing part names a lock all the same",
    file: "src/core/workflow/template.ts",
    from: 'return texts.every(isPlain) ? texts.map(String).join("") : undefined;',
    to: 'return texts.map(String).join("");',
    noticedBy: { file: NAMES, test: "on memory a name that is no usable text" },
  },
  {
    id: "lock-name-unchecked-in-run",
    means: "a name that only a run knows may be anything",
    file: "src/core/workflow/locks.ts",
    from: '    checkLock(`step "${name}"`, made, namespace);\n    return made;',
    to: "    return made as Lock;",
    noticedBy: { file: NAMES, test: "on memory a name that is no usable text" },
  },
  {
    id: "lock-twice-is-two-slots",
    means: "a unit that names a lock twice asks for two slots of it and never starts",
    file: "src/core/gate/lock.ts",
    from: "const slots = Math.max(lock.slots, known?.slots ?? 0);",
    to: "const slots = lock.slots + (known?.slots ?? 0);",
    noticedBy: { file: ORDER, test: "on memory a unit that names a lock twice" },
  },
  {
    id: "self-deadlock-at-run-time",
    means: "a step waits for ever for a mutex that its own run holds under a computed name",
    file: "src/engine/runs/home.ts",
    from: "  refuseHeld(home, step, asks);\n",
    to: "",
    noticedBy: { file: SELF, test: "on memory if a name that only the run knows" },
  },
  {
    id: "held-semaphores-forgotten",
    means: "the app check does not add up what the runs above hold of a semaphore",
    file: "src/core/app/held.ts",
    from: "!neverFits(held.slots + slots, limit)",
    to: "!neverFits(slots, limit)",
    noticedBy: { file: SELF, test: "a semaphore of limit 1 that its run holds" },
  },
  {
    id: "file-does-not-win-again",
    means: "a file cannot take back a limit that an operator has set",
    file: "src/api/lock-files.ts",
    from: "await this.#takeBack(app, before,",
    to: "await this.#takeBack(app, new Map(),",
    noticedBy: { file: FILES, test: "on SQLite raising, lowering, zeroing and deleting" },
  },
  {
    id: "restart-takes-the-operators-limit",
    means: "a worker that starts undoes what an operator has set, although the file says nothing new",
    file: "src/api/lock-files.ts",
    from: "(now.get(key) ?? null) !== limit);",
    to: "now.has(key) || limit !== null);",
    noticedBy: { file: FILES, test: "on SQLite raising, lowering, zeroing and deleting" },
  },
  {
    id: "release-leaves-the-run",
    means: "a released run goes on without its lock",
    file: "src/api/locks.ts",
    from: "    await this.#store.failRun(id, body, handler);\n",
    to: "",
    noticedBy: { file: ORDER, test: "on memory a person may take a lock from a run" },
  },
];
