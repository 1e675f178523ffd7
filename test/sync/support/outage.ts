// A line to a server that can be taken away: every connection is cut, and new ones are refused for a while.
// The server ends what was in progress, as it does when it restarts.

import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";

export class Outage {
  readonly url: string;
  readonly #server;
  readonly #sockets = new Set<Socket>();
  #away = false;

  private constructor(server: ReturnType<typeof createServer>, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async before(target: string): Promise<Outage> {
    const { hostname, port } = new URL(target);
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = new URL(target);
    url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const outage = new Outage(server, url.href);
    server.on("connection", (client) => outage.#join(client, hostname, Number(port)));
    return outage;
  }

  begin(): void {
    this.#away = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  end(): void {
    this.#away = false;
  }

  async close(): Promise<void> {
    this.begin();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #join(client: Socket, hostname: string, port: number): void {
    if (this.#away) {
      client.destroy();
      return;
    }
    const server = connect(port, hostname);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.on("error", () => {});
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }
}
