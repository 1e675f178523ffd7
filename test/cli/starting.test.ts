// A worker that loses its store while it starts reports the error and exits, so that its supervisor can start
// it again.

import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";
import { expect, test } from "vitest";
import { describeWithPostgres, freshPostgres } from "../support/databases.ts";
import { newProject, sluice } from "./terminal.ts";

describeWithPostgres("a worker", () => {
  test("whose store goes away while it starts ends with that error", async () => {
    const project = newProject();
    const store = await freshPostgres();
    expect(await sluice(project, ["migrate", "--store", store])).toMatchObject({ code: 0 });
    const { url, close } = await restartingAfter(1, store);
    const ended = await sluice(project, ["worker", "app.js", "--processes=1", "--store", url]);
    await close();
    expect(ended).toEqual({
      code: 1,
      stdout: "",
      stderr: `error STORE_UNREACHABLE: The store ${url} could not be reached: the database system is starting up\n`,
    });
  });
});

/**
 * A proxy that lets `count` connections reach the server. The next connection cuts all of them and gets the
 * error of a restarting server.
 */
async function restartingAfter(
  count: number,
  target: string,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { hostname, port } = new URL(target);
  const joined = new Set<Socket>();
  let connections = 0;
  const server = createServer((client) => {
    client.on("error", () => {});
    connections += 1;
    if (connections > count) {
      for (const socket of joined) socket.destroy();
      client.once("data", () => client.end(startingUp()));
      return;
    }
    const beyond = connect(Number(port), hostname).on("error", () => {});
    for (const socket of [client, beyond]) joined.add(socket);
    client.pipe(beyond).pipe(client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async (): Promise<void> => {
    for (const socket of joined) socket.destroy();
    server.close();
  };
  return { url: url.href, close };
}

/** PostgreSQL's error message while it starts up. */
function startingUp(): Buffer {
  const fields = ["SFATAL", "VFATAL", "C57P03", "Mthe database system is starting up"];
  const body = Buffer.from(`${fields.join("\0")}\0\0`);
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
