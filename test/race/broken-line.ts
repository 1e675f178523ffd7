// A connection that breaks at the worst moment: while a commit is on its way. It speaks no protocol and only
// looks for the word.

import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";

export type Cut =
  /** The commit arrives, but its answer does not. The connection is cut once the server has done it. */
  | { readonly answer: "lost"; readonly isDone: () => Promise<boolean> }
  /** The connection is cut first, but the commit still arrives, once `isTime`. */
  | { readonly answer: "late"; readonly isTime: () => Promise<boolean> }
  /** The commit itself does not arrive. */
  | { readonly answer: "never asked" };

/**
 * Does not match the COMMITTED of an isolation level. Once the statement is prepared, it matches its name.
 */
const COMMIT = /COMMIT(?!TED)|sluice_commit/;

export class BrokenLine {
  readonly url: string;
  readonly #server;
  readonly #sockets = new Set<Socket>();
  #cut: Cut | undefined;
  cuts = 0;

  private constructor(server: ReturnType<typeof createServer>, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async to(target: string): Promise<BrokenLine> {
    const { hostname, port } = new URL(target);
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = new URL(target);
    url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const line = new BrokenLine(server, url.href);
    server.on("connection", (client) => line.#join(client, connect(Number(port), hostname)));
    return line;
  }

  /** Breaks the next commit. Later ones go through. */
  breakNext(cut: Cut): void {
    this.#cut = cut;
  }

  #join(client: Socket, server: Socket): void {
    let silent = false;
    let kept = false;
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        client.destroy();
        if (!kept) server.destroy();
      });
    }
    client.on("data", (chunk) => {
      const cut = this.#cut;
      if (!cut || !COMMIT.test(chunk.toString("latin1"))) return void server.write(chunk);
      this.#cut = undefined;
      this.cuts += 1;
      silent = true;
      if (cut.answer === "never asked") return void client.destroy();
      if (cut.answer === "late") {
        kept = true;
        client.destroy();
        void whenSo(cut.isTime).finally(() => server.end(chunk));
        return;
      }
      server.write(chunk);
      void whenSo(cut.isDone).finally(() => client.destroy());
    });
    server.on("data", (chunk) => {
      if (!silent) client.write(chunk);
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}

async function whenSo(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await isSo().catch(() => true)) && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 150));
}
