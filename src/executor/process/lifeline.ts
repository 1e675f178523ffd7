/**
 * A pipe from the parent, read by a separate thread in the child, so that both its uses work while user code
 * blocks the main thread:
 *
 * - However the parent ends, by a clean exit or SIGKILL, the pipe closes, and the thread kills its process.
 * - The parent writes the deadline of its lease, one line each time. The thread keeps the newest in shared
 *   memory. Code that blocked for several leases reads it there and is not considered lost while the messages
 *   of the main channel are still unread.
 *
 * The thread reads the pipe as a socket and never blocks in a call, so `process.exit` does not wait for it.
 * Its source is a string, so that it runs the same from TypeScript, from dist and from a bundle.
 */
import { Worker } from "node:worker_threads";

/** The next number after stdin, stdout, stderr and Node's channel. */
export const LIFELINE_FD = 4;

const THREAD = `
const { Socket } = require("node:net");
const { parentPort, workerData: { fd, newest } } = require("node:worker_threads");
const die = () => process.kill(process.pid, "SIGKILL");
let rest = "";
const hear = (text) => {
  const lines = (rest + text).split("\\n");
  rest = lines.pop();
  if (lines.length === 0) return;
  Atomics.store(newest, 0, BigInt(lines.pop()));
  parentPort.postMessage("deadline");
};
const pipe = new Socket({ fd, readable: true, writable: false });
pipe.setEncoding("latin1").on("data", hear).on("end", die).on("error", die);
parentPort.postMessage("held");
`;

export class Lifeline {
  /** Resolves when the thread watches the pipe. A child without that watch must not get work. */
  readonly held: Promise<void>;
  readonly #newest = new BigInt64Array(new SharedArrayBuffer(8));

  constructor(heard: () => void) {
    // The app's loaders and flags are not for the thread, which must run before the app does.
    const thread = new Worker(THREAD, {
      eval: true,
      execArgv: [],
      env: {},
      workerData: { fd: LIFELINE_FD, newest: this.#newest },
    });
    thread.unref();
    this.held = new Promise((resolve) => {
      thread.on("message", (word) => (word === "held" ? resolve() : heard()));
    });
  }

  /** The newest deadline that the parent has written, on the machine's clock. 0 means none. */
  get until(): number {
    return Number(Atomics.load(this.#newest, 0));
  }
}
