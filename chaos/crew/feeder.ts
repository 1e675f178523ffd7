/**
 * The process that enqueues. It is kept alive, paused while there is enough in line, and stopped when enough
 * was enqueued.
 */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { EnqueuerOrder } from "../enqueuer.ts";
import type { Acked, Ordered } from "../history.ts";
import type { Line } from "../proxy/line.ts";

const PROGRAM = fileURLToPath(new URL("../enqueuer.ts", import.meta.url));
/** Without the paths that let our type-checker read the source: here "sluice" means the built package. */
const TSCONFIG = fileURLToPath(new URL("../tsconfig.json", import.meta.url));

export interface FeederOptions {
  readonly order: Omit<EnqueuerOrder, "log">;
  readonly folder: string;
  readonly line: Line | undefined;
  readonly most: number;
}

export class Feeder {
  readonly line: Line | undefined;
  readonly #options: FeederOptions;
  readonly #log: string;
  #process: ChildProcess;
  #incarnation = 0;
  #over = false;
  #held = false;
  acked = 0;
  isUp = false;

  constructor(options: FeederOptions) {
    this.#options = options;
    this.line = options.line;
    this.#log = join(options.folder, "acked.jsonl");
    this.#process = this.#start();
  }

  #start(): ChildProcess {
    const { order, folder } = this.#options;
    const seed = order.seed + this.#incarnation * 7_919;
    const isFirst = this.#incarnation === 0;
    this.#incarnation += 1;
    const full: EnqueuerOrder = {
      ...order,
      seed,
      poison: isFirst ? order.poison : 0,
      opens: isFirst && order.opens,
      log: this.#log,
    };
    const child = spawn(process.execPath, ["--import", "tsx", PROGRAM, JSON.stringify(full)], {
      env: { ...process.env, TSX_TSCONFIG_PATH: TSCONFIG },
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    child.stderr?.pipe(createWriteStream(join(folder, "enqueuer.log"), { flags: "a" }));
    child.on("message", (word) => {
      if (word === "ready") this.isUp = true;
      else this.acked += Number(word);
      this.#tell(this.#held || this.acked >= this.#options.most ? "hold" : "go");
    });
    child.on("error", () => {});
    child.once("exit", () => {
      this.isUp = false;
      if (!this.#over) this.#process = this.#start();
    });
    return child;
  }

  #tell(word: "hold" | "go" | "end"): void {
    if (this.#process.connected) this.#process.send(word, () => {});
  }

  /** True while there is enough in line. */
  set held(held: boolean) {
    if (held === this.#held) return;
    this.#held = held;
    this.#tell(held || this.acked >= this.#options.most ? "hold" : "go");
  }

  kill(): boolean {
    return this.isUp && this.#process.kill("SIGKILL");
  }

  /** Stops enqueueing and resolves when the process is gone. */
  async end(): Promise<void> {
    this.#over = true;
    const gone =
      this.#process.exitCode === null && this.#process.signalCode === null
        ? once(this.#process, "exit")
        : undefined;
    this.#tell("end");
    const force = setTimeout(() => this.#process.kill("SIGKILL"), 15_000);
    await gone;
    clearTimeout(force);
  }

  /**
   * Everything that was acknowledged to any of its processes. An incomplete line was never finished, so it
   * was never reported.
   */
  read(): Acked[] {
    return this.#lines().flatMap((line) => ("ids" in line ? [line] : []));
  }

  /** All runs that any of its processes was about to submit. */
  ordered(): Ordered[] {
    return this.#lines().flatMap((line) => ("marks" in line ? [line] : []));
  }

  #lines(): (Acked | Ordered)[] {
    if (!existsSync(this.#log)) return [];
    const lines = readFileSync(this.#log, "utf8")
      .split("\n")
      .filter((line) => line.endsWith("}"));
    return lines.map((line) => JSON.parse(line) as Acked | Ordered);
  }
}
