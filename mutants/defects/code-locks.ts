import type { Defect } from "../defect.ts";

const DESK = { file: "src/engine/locks/lock-desk.test.ts" };
const REQUEST = { file: "src/engine/locks/request.test.ts" };

/** Locks in plain code: what a careless hand could break. */
export const defects: readonly Defect[] = [
  {
    id: "grant-after-leave",
    means: "a caller that has given up gets the lock anyway, and nobody releases it",
    file: "src/engine/locks/request.ts",
    from: '    if (!this.isWanted) return false;\n    this.#state = "held";',
    to: '    this.#state = "held";',
    noticedBy: REQUEST,
  },
  {
    id: "first-permit-frees",
    means: "the lock is free while another permit of the same holder still uses it",
    file: "src/engine/locks/grant.ts",
    from: "    if (this.#uses > 0) return false;\n    this.#end();",
    to: "    this.#end();",
    noticedBy: REQUEST,
  },
  {
    id: "second-release-counts",
    means: "a permit that is released twice frees the lock of the others",
    file: "src/engine/locks/permit.ts",
    from: "    if (!this.#over) {",
    to: "    {",
    noticedBy: REQUEST,
  },
  {
    id: "one-leaves-all-leave",
    means: "the timeout of one caller ends the wait of all callers with its holder",
    file: "src/engine/locks/request.ts",
    from: " || this.#callers.size > 0) return false;",
    to: ") return false;",
    noticedBy: REQUEST,
  },
  {
    id: "pass-for-each-hint",
    means: "every hint makes every waiting process lock the gate",
    file: "src/engine/locks/request-claims.ts",
    from: "if (!this.#mustPass && ",
    to: "if (false && ",
    noticedBy: { ...DESK, test: "that waits makes no pass but that of its poll" },
  },
  {
    id: "waiters-put-aside",
    means: "a release does not see who waits for the lock, so the next one gets it late",
    file: "src/engine/claiming/sight.ts",
    from: "      this.#bringBack(spec);\n",
    to: "",
    noticedBy: { ...DESK, test: "hands a lock over with one pass" },
  },
  {
    id: "names-stay",
    means: "each name of a lock stays in the store for ever",
    file: "src/store/memory/requests.ts",
    from: "  for (const gate of gates) tables.gate.delete(gate);",
    to: "",
    noticedBy: { ...DESK, test: "leaves nothing of many names" },
  },
  {
    id: "desk-stays-open",
    means: "a client that once held a lock polls the store for ever",
    file: "src/engine/locks/lock-desk.ts",
    from: "        if (this.#isIdle) await this.#shut();\n",
    to: "",
    noticedBy: { ...DESK, test: "is nothing to the store until the first request" },
  },
  {
    id: "frozen-holder-hears-nothing",
    means: "the code of a process that was frozen goes on as if it held the lock",
    file: "src/engine/locks/lock-executor.ts",
    from: "        grant.abort(lossFor(job.signal.reason));\n",
    to: "",
    noticedBy: { ...DESK, test: "frozen for longer than its lease" },
  },
];
