/**
 * A proxied connection from one process to its database. It can be cut, cut at a commit, go silent, or tell
 * when a pass is open. Every worker has its own, so that a fault hits exactly one of them.
 */
import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";
import { connect, createServer } from "node:net";
import type { Watch } from "./watch.ts";

/** At a commit: its answer is lost after the server gave it, or the commit itself never arrives. */
export type CommitCut = "answer" | "request";

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

export class Line {
  readonly url: string;
  readonly #listener: Server;
  readonly #pairs = new Set<Pair>();
  readonly #newWatch: () => Watch;
  readonly #target: { readonly host: string; readonly port: number };
  #cut: { how: CommitCut; done: () => void } | undefined;
  #pass: (() => void) | undefined;
  #silent = false;
  #away = false;

  private constructor(listener: Server, target: URL, newWatch: () => Watch) {
    this.#listener = listener;
    this.#newWatch = newWatch;
    this.#target = { host: target.hostname, port: Number(target.port) };
    const own = new URL(target);
    own.port = String((listener.address() as AddressInfo).port);
    this.url = own.href;
    listener.on("connection", (client) => this.#join(client));
  }

  static async to(target: string, newWatch: () => Watch): Promise<Line> {
    const listener = createServer().listen(0, "127.0.0.1");
    await once(listener, "listening");
    return new Line(listener, new URL(target), newWatch);
  }

  /** Breaks every open connection. */
  cutAll(): number {
    const count = this.#pairs.size;
    for (const pair of this.#pairs) this.#break(pair);
    return count;
  }

  /** Breaks the connection on which the next commit passes. False if none came in time. */
  cutAtCommit(how: CommitCut, withinMs: number): Promise<boolean> {
    return this.#within(withinMs, (done) => {
      this.#cut = done && { how, done };
    });
  }

  /** Calls `then` while a pass is open and its worker has not yet been told. False if none came in time. */
  insidePass(then: () => void, withinMs: number): Promise<boolean> {
    return this.#within(withinMs, (done) => {
      this.#pass =
        done &&
        (() => {
          then();
          done();
        });
    });
  }

  /** Nothing passes, and neither side is told. Data sent meanwhile arrives when the silence ends. */
  set silent(silent: boolean) {
    this.#silent = silent;
    for (const { client, server } of this.#pairs)
      for (const socket of [client, server]) silent ? socket.pause() : socket.resume();
  }

  /** The database is away: connections are refused. */
  set away(away: boolean) {
    this.#away = away;
    if (away) this.cutAll();
  }

  async close(): Promise<void> {
    this.cutAll();
    this.#listener.close();
    await once(this.#listener, "close");
  }

  #within(ms: number, arm: (done: (() => void) | undefined) => void): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        arm(undefined);
        resolve(false);
      }, ms);
      arm(() => {
        clearTimeout(timer);
        arm(undefined);
        resolve(true);
      });
    });
  }

  #join(client: Socket): void {
    if (this.#away) {
      client.on("error", () => {}).resetAndDestroy();
      return;
    }
    const server = connect(this.#target);
    const pair = { client, server };
    const watch = this.#newWatch();
    this.#pairs.add(pair);
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => this.#break(pair, "quietly"));
      if (this.#silent) socket.pause();
    }
    client.on("data", (bytes) => this.#fromClient(bytes, pair, watch));
    server.on("data", (bytes) => this.#fromServer(bytes, pair, watch));
  }

  #fromClient(bytes: Buffer, pair: Pair, watch: Watch): void {
    const commit = watch.fromClient(bytes);
    if (commit === undefined || this.#cut?.how !== "request") {
      pair.server.write(bytes);
      return;
    }
    if (commit > 0) pair.server.write(bytes.subarray(0, commit));
    this.#cut.done();
    this.#break(pair);
  }

  #fromServer(bytes: Buffer, pair: Pair, watch: Watch): void {
    const { committed, insidePass } = watch.fromServer(bytes);
    if (committed && this.#cut?.how === "answer") {
      this.#cut.done();
      this.#break(pair);
      return;
    }
    if (insidePass) this.#pass?.();
    pair.client.write(bytes);
  }

  #break(pair: Pair, how: "at once" | "quietly" = "at once"): void {
    if (!this.#pairs.delete(pair)) return;
    for (const socket of [pair.client, pair.server])
      if (how === "quietly" || socket.connecting) socket.destroy();
      else socket.resetAndDestroy();
  }
}
