// The main module of a process with one worker, and so one coordinator: prepares everything, says so, and works from
// "go" to "stop".

import { once } from "node:events";
import { connect } from "../../../src/index.ts";
import type { Said } from "../../e2e/support/worker-process.ts";
import { Visitor } from "../../support/witness.ts";
import type { AppName } from "./apps.ts";
import { appNamed } from "./apps.ts";

export interface RunWorkerOrder {
  readonly app: AppName;
  readonly store: string;
  readonly name: string;
  readonly slots: number;
  readonly poll: string;
  readonly witnessPort: number;
}

const say = (said: Said): void => void process.send?.(said);

async function heard(word: string): Promise<void> {
  for (;;) {
    const [message] = (await once(process, "message")) as [unknown];
    if (message === word) return;
  }
}

async function main({ app, store, name, slots, poll, witnessPort }: RunWorkerOrder): Promise<void> {
  const visitor = await Visitor.connect(witnessPort, name);
  const sluice = await connect({ store, app: appNamed(app, visitor) });
  const go = heard("go");
  const stop = heard("stop");
  say({ kind: "prepared" });
  await go;
  const worker = await sluice.worker({
    name,
    slots,
    poll: poll as never,
    pollJitter: "0ms",
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

// A worker without its test has nothing left to do.
process.once("disconnect", () => process.exit());
await main(JSON.parse(process.argv[2] as string) as RunWorkerOrder);
