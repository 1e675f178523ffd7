/**
 * The witness: a separate process that is never killed. It records when code is really inside, by one clock.
 * It is also the outside resource that tokens are for: it accepts an effect only with a token that is not
 * older than any it has seen for that key. It knows nothing of the store.
 *
 *   node witness.ts SOCKET LOG
 */
import { openSync, writeSync } from "node:fs";
import type { Socket } from "node:net";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

type Said =
  | {
      kind: "enter";
      id: string;
      name: string;
      fence: number;
      mark: string | null;
      gates: Record<string, number>;
      deaf: boolean;
      pid: number;
      parent: number;
    }
  | { kind: "effect"; key: string; fence: number }
  | { kind: "leave" };

const [path = "", log = ""] = process.argv.slice(2);
const file = openSync(log, "a");
const highest = new Map<string, number>();
let written = "";
let stays = 0;
/** The tasks that are inside right now, by stay. */
const insiders = new Map<number, Said & { kind: "enter" }>();

const write = (line: object): void => {
  written += `${JSON.stringify({ at: Date.now(), ...line })}\n`;
};

/** Writes several lines at once, which is safe because this process is never killed. */
const flush = (): void => {
  if (written) writeSync(file, written);
  written = "";
};

function accepts(key: string, token: number): boolean {
  const before = highest.get(key) ?? 0;
  if (token < before) return false;
  highest.set(key, token);
  return true;
}

function attend(socket: Socket): void {
  const stay = ++stays;
  socket.on("error", () => {});
  socket.on("close", () => {
    if (insiders.delete(stay)) write({ kind: "gone", stay });
  });
  const lines = createInterface({ input: socket });
  // The interface forwards its socket's errors, and a killed process is no reason to end.
  lines.on("error", () => {});
  lines.on("line", (line) => {
    const said = JSON.parse(line) as Said;
    if (said.kind === "enter") {
      insiders.set(stay, said);
      write({ ...said, stay });
      accepts(`task:${said.id}`, said.fence);
      if ("pool:mutex" in said.gates) accepts("pool:mutex", said.fence);
      socket.write("in\n");
    } else if (said.kind === "effect") {
      const accepted = accepts(said.key, said.fence);
      write({ kind: "effect", key: said.key, token: said.fence, accepted, stay });
      socket.write(accepted ? "accepted\n" : "refused\n");
    } else {
      if (insiders.delete(stay)) write({ kind: "left", stay });
      socket.write("out\n");
    }
  });
}

/** The processes its code runs in, and whether a holder with a newer token has been here since. */
const whereabouts = ({ id, fence, pid, parent, deaf }: Said & { kind: "enter" }) => ({
  id,
  pids: [pid, parent],
  deaf,
  overtaken: (highest.get(`task:${id}`) ?? 0) > fence,
});

setInterval(flush, 50);
createServer(attend).listen(path, () => process.send?.("ready"));
process.on("message", (word) => {
  if (word === "inside") process.send?.([...insiders.values()].map(whereabouts));
  if (word !== "end") return;
  flush();
  process.exit(0);
});
process.once("disconnect", () => process.exit(1));
