/** Defects that a newcomer met with the README and the manual alone. */
import type { Defect } from "../defect.ts";

const STAYING = "src/engine/staying.test.ts";

export const defects: readonly Defect[] = [
  {
    id: "worker-keeps-nothing-alive",
    means: "A program that only starts a worker on the embedded store ends at once, and says nothing.",
    file: "src/api/start-worker.ts",
    from: "new Staying(env, new Services(parts, () => executor.stopOthers()))",
    to: "new Services(parts, () => executor.stopOthers())",
    noticedBy: { file: "test/e2e/staying.test.ts", test: "a program with only a worker lives" },
  },
  {
    id: "worker-keeps-alive-for-one-day",
    means: "A worker keeps its process alive until a timer fires, and not after that.",
    file: "src/engine/staying.ts",
    from: "() => this.#stay(), {",
    to: "() => {}, {",
    noticedBy: { file: STAYING, test: "a service keeps the process alive for days" },
  },
  {
    id: "worker-leaves-before-it-has-stopped",
    means: "A process may end while its worker still stops.",
    file: "src/engine/staying.ts",
    from: "    try {\n      await this.#inner.stop(options);",
    to: "    this.#leave();\n    try {\n      await this.#inner.stop(options);",
    noticedBy: { file: STAYING, test: "a service keeps the process alive for days" },
  },
  {
    id: "worker-stays-after-a-failed-stop",
    means: "A process stays for ever because a part of its worker could not stop.",
    file: "src/engine/staying.ts",
    from: "    } finally {\n      this.#leave();\n    }",
    to: "    } catch (error) {\n      throw error;\n    }\n    this.#leave();",
    noticedBy: { file: STAYING, test: "a service that cannot stop does not keep" },
  },
];
