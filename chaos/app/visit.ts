/**
 * A task's connection to the witness, open while its code is inside. If the process dies, the kernel closes
 * it. Every message waits for its answer, so the witness's log is what really happened.
 */
import type { Socket } from "node:net";
import { createConnection } from "node:net";
import { createInterface } from "node:readline";
import type { TaskContext } from "sluice";

export type Gates = Readonly<Record<string, number>>;

export interface Inside {
  /** Asks the fenced resource for an effect. Throws if it is refused. */
  effect(key: string): Promise<void>;
}

class Refused extends Error {}

export async function visit<T>(
  name: string,
  { id, fence, attempt }: TaskContext,
  { gates, deaf, mark }: { readonly gates: Gates; readonly deaf: boolean; readonly mark: string | null },
  work: (inside: Inside) => Promise<T>,
): Promise<T> {
  const socket = createConnection(process.env.CHAOS_WITNESS ?? "");
  const ask = await asking(socket);
  try {
    const { pid, ppid: parent } = process;
    await ask({ kind: "enter", id, name, fence, attempt, gates, deaf, mark, pid, parent });
    return await work({
      effect: async (key) => {
        const answer = await ask({ kind: "effect", key, fence });
        if (answer !== "accepted") throw new Refused(`${key}: token ${fence} is too old`);
      },
    });
  } finally {
    await ask({ kind: "leave" }).catch(() => {});
    socket.destroy();
  }
}

async function asking(socket: Socket): Promise<(message: object) => Promise<string>> {
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  const open: { resolve: (answer: string) => void; reject: (error: Error) => void }[] = [];
  createInterface({ input: socket })
    .on("line", (line) => open.shift()?.resolve(line))
    .on("error", () => {});
  socket.on("error", () => {});
  socket.on("close", () => {
    for (const { reject } of open) reject(new Error("the witness is gone"));
  });
  return (message) =>
    new Promise((resolve, reject) => {
      open.push({ resolve, reject });
      socket.write(`${JSON.stringify(message)}\n`);
    });
}
