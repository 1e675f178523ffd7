// A process that listens, writes down what it hears, and continues where an earlier process was killed.

import { appendFileSync, existsSync, readFileSync, truncateSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { openStore } from "../../src/api/open-store.ts";
import { everything } from "./heard.ts";

const [url = "", path = "", name = ""] = process.argv.slice(2);

/** The last complete line. A killed process may leave half a line. */
function lastHeard(): { listener: string; position: number } | undefined {
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, "utf8");
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  truncateSync(path, Buffer.byteLength(whole));
  const last = whole.trimEnd().split("\n").at(-1);
  return last ? JSON.parse(last) : undefined;
}

try {
  const store = await openStore(url);
  const from = lastHeard();
  if (from && !(await store.resume(everything(name), from))) throw new Error("it could not be resumed");
  let position = from?.position ?? (await store.follow([everything(name)]));
  const write = (line: object): void =>
    appendFileSync(path, `${JSON.stringify({ ...line, listener: name })}\n`);
  if (!from) write({ position });
  process.send?.({ ready: true });
  for (;;) {
    const limit = 1 + Math.floor(Math.random() * 200);
    const page = await store.changes({ after: position, limit, listeners: [name] });
    if (page.lapsed || !page.alive.has(name)) throw new Error("it was forgotten");
    for (const change of page.changes) {
      if (change.position !== position + 1) throw new Error(`${change.position} after ${position}`);
      write(change);
      position = change.position;
    }
    if (!page.more) await sleep(5);
  }
} catch (error) {
  process.send?.({ error: String((error as Error).stack) });
}
