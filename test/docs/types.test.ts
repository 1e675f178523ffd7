// Checks the package's types completely, in a project that has only what installing the package brings.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { builtCli, top } from "../support/built-cli.ts";

const APP = `
import { connect, defineApp, task } from "sluice";
import { openMemory } from "sluice/memory";
const hello = task({ id: "hello", run: (_: unknown, { signal }) => signal.aborted });
export default defineApp({ tasks: [hello] });
export async function use() {
  const sluice = await connect({ store: openMemory() });
  await sluice.close();
}
`;

test.each(["es2022", "esnext"])(
  "compile with target %s, nothing skipped and no types named",
  {
    timeout: 120_000,
  },
  async (target) => {
    await builtCli();
    const project = mkdtempSync(join(tmpdir(), "sluice-types-"));
    onTestFinished(() => rmSync(project, { recursive: true, force: true }));
    const installed = join(project, "node_modules/sluice");
    mkdirSync(installed, { recursive: true });
    // A copy, because behind a link the compiler would find the repository's own packages.
    cpSync(join(top, "dist"), join(installed, "dist"), { recursive: true });
    cpSync(join(top, "package.json"), join(installed, "package.json"));
    // mysql2 needs Node's types.
    for (const name of ["@types/node", "@standard-schema/spec", "undici-types"]) {
      mkdirSync(dirname(join(project, "node_modules", name)), { recursive: true });
      symlinkSync(join(top, "node_modules", name), join(project, "node_modules", name), "dir");
    }
    writeFileSync(join(project, "package.json"), '{ "type": "module" }');
    writeFileSync(join(project, "app.ts"), APP);
    const compilerOptions = { target, module: "nodenext", strict: true, noEmit: true, types: [] };
    writeFileSync(
      join(project, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...compilerOptions, skipLibCheck: false }, files: ["app.ts"] }),
    );
    const tsc = spawn(process.execPath, [join(top, "node_modules/typescript/bin/tsc"), "-p", project]);
    let said = "";
    for (const stream of [tsc.stdout, tsc.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
    const [code] = await once(tsc, "close");
    expect({ said, code }).toEqual({ said: "", code: 0 });
  },
);
