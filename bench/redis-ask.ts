import { connect } from "node:net";

/** Sends one command to Redis and returns its raw answer. It needs no client library. */
export function askRedis(url: string, command: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let answer = "";
    // QUIT makes the server close the connection after its last answer, so the end is certain.
    const socket = connect(Number(port), hostname, () => socket.write(`${command}\r\nQUIT\r\n`));
    socket.setTimeout(1_000, () => socket.destroy(new Error("Redis did not answer within a second")));
    socket.on("data", (data) => {
      answer += data;
    });
    socket.once("error", reject);
    socket.once("close", () => resolve(answer));
  });
}
