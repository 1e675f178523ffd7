// A proxy that adds a network delay: each round trip takes `ms` longer, half of it each way.

import { once } from "node:events";
import type { Server, Socket } from "node:net";
import { connect, createServer } from "node:net";

export async function delayed(url: string, ms: number): Promise<{ url: string; stop(): void }> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const server: Server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on("data", (data) => setTimeout(() => to.writable && to.write(data), ms / 2));
      from.on("close", () => setTimeout(() => to.destroy(), ms / 2));
      from.on("error", () => {});
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = new URL(url);
  own.port = String((server.address() as { port: number }).port);
  return {
    url: own.href,
    stop: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
