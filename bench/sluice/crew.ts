// Worker processes that are told together when to work, and report how many tasks they have run.
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Shape } from "./app.ts";

export type Order = "go" | "rest" | "stop";

export interface Reply {
  /** How many tasks it has run since it lives. */
  readonly ran: number;
  readonly obeyed?: Order;
}

interface Member {
  readonly process: ChildProcess;
  reply: Reply | undefined;
  ended: boolean;
}

/** A worker that takes longer to leave hangs, and the bench must end. */
const STOP_MS = 30_000;

export class Crew {
  readonly #members: readonly Member[];
  /** Look again, because something was reported. */
  readonly #looks = new Set<() => void>();

  private constructor(size: number, job: object) {
    this.#members = Array.from({ length: size }, () => this.#hire(job));
  }

  /** Resolves when every process is connected to the store. They do not work yet. */
  static async of(size: number, job: Shape & { url: string }): Promise<Crew> {
    const crew = new Crew(size, job);
    await crew.#until(({ reply }) => reply !== undefined);
    return crew;
  }

  get pids(): number[] {
    return this.#members.map(({ process }) => process.pid as number);
  }

  /** How many tasks each of them has run. */
  get ran(): number[] {
    return this.#members.map(({ reply }) => reply?.ran ?? 0);
  }

  /** Resolves when together they have run `count` tasks since they live. */
  haveRun(count: number): Promise<void> {
    return this.#until(() => this.ran.reduce((sum, each) => sum + each, 0) >= count);
  }

  /** Resolves when all have obeyed. */
  async tell(order: Order): Promise<void> {
    for (const { process } of this.#members) process.send(order);
    await this.#until(({ reply }) => reply?.obeyed === order);
  }

  /** Ends all processes, whatever has happened. */
  async stop(): Promise<void> {
    for (const { process } of this.#members) if (process.connected) process.send("stop" satisfies Order);
    const late = setTimeout(() => {
      for (const { process } of this.#members) process.kill("SIGKILL");
    }, STOP_MS);
    await this.#until(({ ended }) => ended, true);
    clearTimeout(late);
  }

  #hire(job: object): Member {
    const file = fileURLToPath(new URL("serve.ts", import.meta.url));
    const child = spawn(process.execPath, [...process.execArgv, file, JSON.stringify(job)], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const member: Member = { process: child, reply: undefined, ended: false };
    child.on("message", (reply: Reply) => {
      member.reply = { ...member.reply, ...reply };
      this.#lookAgain();
    });
    child.once("exit", () => {
      member.ended = true;
      this.#lookAgain();
    });
    return member;
  }

  #lookAgain(): void {
    for (const look of [...this.#looks]) look();
  }

  /** Nobody should wait for a process that has died, except for its end. */
  #until(holds: (member: Member) => boolean, orDead = false): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const done = this.#members.every(holds);
        if (!done && (orDead || !this.#members.some(({ ended }) => ended))) return;
        this.#looks.delete(look);
        if (done) resolve();
        else reject(new Error("a worker process died"));
      };
      this.#looks.add(look);
      look();
    });
  }
}
