// A program that only holds locks, and never closes its client. It says what happens, and ends by itself.

import { writeSync } from "node:fs";
import { connect } from "../../../src/api/connect.ts";
import { openMemory } from "../../../src/store/memory/index.ts";

const [where = "memory"] = process.argv.slice(2);
const say = (line: string): void => void writeSync(1, `${line}\n`);
process.on("exit", () => say("nothing left to do"));

const sluice = await connect({ store: where === "memory" ? openMemory() : where });
const held = await sluice.mutex("door").acquire();
say("held");
const late = sluice.mutex("door").acquire({ timeout: "400ms" });
say(
  await late.then(
    () => "granted",
    (error: { code: string }) => error.code,
  ),
);
await held.release();
say("released");
