// An observer outside the store. Task code reports when it enters and leaves, and continues only after an
// answer, so the sums here show what really runs, whatever a store may believe.

import type { Server, Socket } from "node:net";
import { createConnection, createServer } from "node:net";
import { createInterface } from "node:readline";

/** One stay of one task's code. */
export interface Visit {
  readonly worker: string;
  readonly id: string;
  readonly queue: string;
  /** Slots by pool. */
  readonly pools: Readonly<Record<string, number>>;
  readonly epoch: number;
  /** The worker's own time, for information only. */
  readonly t: number;
}

type Message =
  | { readonly n: number; readonly kind: "enter"; readonly visit: Visit }
  | { readonly n: number; readonly kind: "leave"; readonly epoch: number }
  | { readonly n: number; readonly kind: "hold"; readonly id: string };

interface Stay {
  readonly visit: Visit;
  readonly from: Socket;
}

export class Witness {
  readonly #server: Server;
  readonly #inside = new Map<number, Stay>();
  readonly #now = new Map<string, number>();
  readonly #peak = new Map<string, number>();
  readonly #held = new Map<string, (() => void)[]>();
  readonly #watching = new Set<() => void>();
  readonly #sockets = new Set<Socket>();
  readonly #free = new Set<string>();
  #allFree = false;
  /** Every entry, in order of arrival. */
  readonly starts: Visit[] = [];

  private constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => this.#attend(socket));
  }

  static async open(): Promise<Witness> {
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", resolve);
    });
    return new Witness(server);
  }

  /** The port that visitors connect to. */
  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  /** The visits that are inside right now. */
  get inside(): Visit[] {
    return [...this.#inside.values()].map(({ visit }) => visit);
  }

  /** The sum at a limit right now: "cluster", "queue:stripe", "pool:database", "worker:a". */
  sum(key: string): number {
    return this.#now.get(key) ?? 0;
  }

  /** The largest sum so far. */
  peak(key: string): number {
    return this.#peak.get(key) ?? 0;
  }

  startsOf(id: string): Visit[] {
    return this.starts.filter((visit) => visit.id === id);
  }

  /** Lets held code go on. Without an id, all code from now on. */
  letGo(id?: string): void {
    if (id === undefined) this.#allFree = true;
    else this.#free.add(id);
    for (const held of id === undefined ? [...this.#held.keys()] : [id]) {
      for (const go of this.#held.get(held) ?? []) go();
      this.#held.delete(held);
    }
  }

  /** Resolves once `isTrue` holds. */
  until(isTrue: (witness: Witness) => boolean, what: string, withinMs = 40_000): Promise<void> {
    if (isTrue(this)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#watching.delete(look);
      };
      const timer = setTimeout(() => {
        end();
        reject(new Error(`the witness did not see within ${withinMs}ms that ${what}; ${this}`));
      }, withinMs);
      const look = (): void => {
        if (!isTrue(this)) return;
        end();
        resolve();
      };
      this.#watching.add(look);
    });
  }

  toString(): string {
    const peaks = [...this.#peak].sort(([a], [b]) => (a < b ? -1 : 1));
    return `${this.starts.length} starts, ${this.#inside.size} inside, at most ${peaks.map(([key, most]) => `${key} ${most}`).join(", ") || "nobody"}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #attend(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    // If the process is gone, its code no longer runs.
    socket.on("close", () => {
      this.#sockets.delete(socket);
      for (const [epoch, stay] of this.#inside) if (stay.from === socket) this.#leave(epoch);
    });
    createInterface({ input: socket })
      .on("line", (line) => this.#hear(JSON.parse(line) as Message, socket))
      .on("error", () => {});
  }

  #hear(message: Message, socket: Socket): void {
    const answer = (): void => void socket.write(`${message.n}\n`);
    if (message.kind === "hold") {
      this.#hold(message.id, answer);
      return;
    }
    if (message.kind === "enter") this.#enter(message.visit, socket);
    else this.#leave(message.epoch);
    answer();
    for (const look of [...this.#watching]) look();
  }

  #hold(id: string, go: () => void): void {
    if (this.#allFree || this.#free.has(id)) go();
    else this.#held.set(id, [...(this.#held.get(id) ?? []), go]);
  }

  #enter(visit: Visit, from: Socket): void {
    this.starts.push(visit);
    this.#inside.set(visit.epoch, { visit, from });
    for (const [key, slots] of asksOf(visit)) {
      const sum = this.sum(key) + slots;
      this.#now.set(key, sum);
      if (sum > this.peak(key)) this.#peak.set(key, sum);
    }
  }

  #leave(epoch: number): void {
    const stay = this.#inside.get(epoch);
    if (!stay) return;
    this.#inside.delete(epoch);
    for (const [key, slots] of asksOf(stay.visit)) this.#now.set(key, this.sum(key) - slots);
  }
}

function asksOf({ worker, queue, pools }: Visit): [key: string, slots: number][] {
  return [
    ["cluster", 1],
    [`queue:${queue}`, 1],
    [`worker:${worker}`, 1],
    ...Object.entries(pools).map(([pool, slots]): [string, number] => [`pool:${pool}`, slots]),
  ];
}

/** The connection from a worker's process to the witness. */
export class Visitor {
  readonly #socket: Socket;
  readonly #worker: string;
  readonly #open = new Map<number, () => void>();
  #n = 0;

  private constructor(socket: Socket, worker: string) {
    this.#socket = socket;
    this.#worker = worker;
    createInterface({ input: socket }).on("line", (line) => this.#answered(Number(line)));
  }

  static async connect(port: number, worker: string): Promise<Visitor> {
    const socket = createConnection({ port, host: "127.0.0.1", noDelay: true });
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    socket.on("error", () => {});
    return new Visitor(socket, worker);
  }

  get worker(): string {
    return this.#worker;
  }

  /** Does the work between an entry and a leave, both acknowledged. */
  async visit<T>(visit: Omit<Visit, "worker" | "t">, work: () => Promise<T>): Promise<T> {
    await this.#say({ kind: "enter", visit: { ...visit, worker: this.#worker, t: Date.now() } });
    try {
      return await work();
    } finally {
      await this.#say({ kind: "leave", epoch: visit.epoch });
    }
  }

  /** Resolves when the test lets this task go on. */
  hold(id: string): Promise<void> {
    return this.#say({ kind: "hold", id });
  }

  close(): void {
    this.#socket.destroy();
  }

  #say(
    message:
      | { kind: "enter"; visit: Visit }
      | { kind: "leave"; epoch: number }
      | { kind: "hold"; id: string },
  ): Promise<void> {
    this.#n += 1;
    const n = this.#n;
    return new Promise((resolve) => {
      this.#open.set(n, resolve);
      this.#socket.write(`${JSON.stringify({ ...message, n })}\n`);
    });
  }

  #answered(n: number): void {
    this.#open.get(n)?.();
    this.#open.delete(n);
  }
}
