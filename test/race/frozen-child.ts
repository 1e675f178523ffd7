// A claimer that freezes inside its first pass: after it has locked and looked, before it writes. When it is
// resumed, it continues as if nothing had happened, and reports the result.

import { writeSync } from "node:fs";
import { openMysql } from "../../src/store/mysql/index.ts";
import { openPostgres } from "../../src/store/postgres/index.ts";
import type { Store, View } from "../../src/store/store.ts";
import { Claimer } from "./claimer.ts";

const [name = "", url = ""] = process.argv.slice(2);
const say = (words: object): void => void writeSync(1, `${JSON.stringify(words)}\n`);

const store = name === "PostgreSQL" ? openPostgres({ url }) : openMysql({ url });
let decisions = 0;
const freezing = new Proxy(store, {
  get(target, key) {
    if (key === "pass") return passFreezing;
    const found = Reflect.get(target, key, target) as unknown;
    return typeof found === "function" ? found.bind(target) : found;
  },
});

const passFreezing: Store["pass"] = (scope, decide) =>
  store.pass(scope, (view: View) => {
    const moves = decide(view);
    if (moves.claim.length > 0) decisions += 1;
    if (moves.claim.length > 0 && decisions === 1) {
      say({ inside: moves.claim.map(({ id }) => id) });
      process.kill(process.pid, "SIGSTOP");
    }
    return moves;
  });

const claimer = await Claimer.open(freezing, "frozen");
let granted = 0;
let code: unknown = null;
try {
  for (let look = 0; look < 5 && granted === 0 && decisions === 0; look += 1) granted += await claimer.take();
} catch (error) {
  code = (error as { code?: unknown }).code ?? String(error);
}
const held = (await store.claimsOf("frozen")).map(({ id }) => id);
say({ granted, code, held, decisions });
await store.close();
