// The main module of a worker, and so of a coordinator, in a separate process. It prepares everything, says
// so, and works from "go" to "stop".

import { once } from "node:events";
import { openStore } from "../../src/api/open-store.ts";
import { connect } from "../../src/index.ts";
import { watchRanks } from "./rank-watch.ts";
import { Visitor } from "./witness.ts";
import type { AppName } from "./worker-apps.ts";
import { appNamed } from "./worker-apps.ts";

export interface WorkerOrder {
  readonly app: AppName;
  readonly store: string;
  readonly name: string;
  readonly slots: number;
  readonly queues?: readonly string[];
  readonly poll?: string;
  readonly witnessPort: number;
}

/** The messages of the process. */
export type Said =
  | { readonly kind: "prepared" }
  | { readonly kind: "working"; readonly session: string }
  | { readonly kind: "event"; readonly event: string; readonly id?: string; readonly text?: string };

const say = (said: Said): void => void process.send?.(said);

async function heard(word: string): Promise<void> {
  for (;;) {
    const [message] = (await once(process, "message")) as [unknown];
    if (message === word) return;
  }
}

async function main({ app, store, name, slots, queues, poll, witnessPort }: WorkerOrder): Promise<void> {
  const visitor = await Visitor.connect(witnessPort, name);
  const opened = watchRanks(await openStore(store), (text) =>
    say({ kind: "event", event: "rankBreach", text }),
  );
  const sluice = await connect({ store: opened, app: appNamed(app, visitor) });
  const go = heard("go");
  const stop = heard("stop");
  say({ kind: "prepared" });
  await go;
  const worker = await sluice.worker({
    name,
    slots,
    ...(queues ? { queues } : {}),
    ...(poll ? { poll, pollJitter: "0ms" } : {}),
    watch: (event) => {
      if (event.kind === "error")
        say({ kind: "event", event: "error", text: String((event.error as Error)?.stack ?? event.error) });
      else if (event.kind === "refused") say({ kind: "event", event: "refused", id: event.id });
      else if (event.kind === "sessionEnded") say({ kind: "event", event: "sessionEnded" });
    },
  });
  say({ kind: "working", session: worker.session as string });
  await stop;
  await sluice.close();
  visitor.close();
  process.disconnect();
}

// Without its test, a worker has nothing left to do.
process.once("disconnect", () => process.exit());
await main(JSON.parse(process.argv[2] as string) as WorkerOrder);
