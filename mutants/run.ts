/** `npm run mutants`: if no test notices a defect, a test is missing. */
import { start as startMariadb } from "../test/support/mariadb.ts";
import { start as startPostgres } from "../test/support/postgres.ts";
import type { StartedServer } from "../test/support/server.ts";
import { Copy } from "./copy.ts";
import type { Listed } from "./list.ts";
import { allDefects, chosen } from "./list.ts";
import { optionsOf } from "./options.ts";
import { ListError } from "./plant.ts";
import type { Judged } from "./table.ts";
import { isFine, line, summary, tableOf } from "./table.ts";
import type { Servers } from "./tests.ts";
import { judge, sound } from "./tests.ts";
import type { Verdict } from "./verdict.ts";

async function main(): Promise<boolean> {
  const options = optionsOf(process.argv.slice(2));
  const defects = chosen(await allDefects(), options.words);
  if (defects.length === 0) throw new ListError(`no defect has one of these words: ${options.words}`);
  if (options.list) {
    console.log(tableOf(defects.map(({ area, id, file, means }) => [area, id, file, means])));
    return true;
  }
  const copies = Array.from({ length: Math.min(options.jobs, defects.length) }, () => new Copy());
  process.once("exit", () => copies.forEach((copy) => void copy.remove()));
  const { servers, stop } = await startServers(defects);
  try {
    const judged = await tryAll(defects, copies, servers);
    console.log(`\n${tableOf(judged.map(line))}\n\n${summary(judged)}`);
    return judged.every(isFine);
  } finally {
    await stop();
  }
}

/**
 * Goes file by file: first checks that the tests pass on sound code, then tries each defect they should
 * notice.
 */
async function tryAll(
  defects: readonly Listed[],
  copies: readonly Copy[],
  servers: Servers,
): Promise<Judged[]> {
  const files = [...new Set(defects.map(({ noticedBy }) => noticedBy.file))];
  const judged = new Map<string, Judged>();
  const tell = (one: Judged): void => {
    judged.set(one.defect.id, one);
    console.log(`${judged.size}/${defects.length} ${line(one).slice(0, -1).join("  ")}`);
  };
  await eachWith(files, copies, async (file, copy) => {
    const here = defects.filter(({ noticedBy }) => noticedBy.file === file);
    const trusted = await sound(
      copy,
      file,
      here.map(({ noticedBy }) => noticedBy),
      servers,
    );
    for (const defect of here) {
      const since = performance.now();
      const verdict = ground(trusted(defect.noticedBy)) ?? (await tried(defect, copy, servers));
      tell({ defect, verdict, ms: performance.now() - since });
    }
  });
  return defects.map(({ id }) => judged.get(id) as Judged);
}

/** Why a test proves nothing, if it does not pass on sound code. */
function ground(before: Verdict): Verdict | undefined {
  if (before.kind === "escaped") return undefined;
  if (before.kind !== "noticed") return before;
  return { kind: "broken", why: `fails without any defect: ${before.by}: ${before.how}` };
}

async function tried(defect: Listed, copy: Copy, servers: Servers): Promise<Verdict> {
  try {
    return await copy.with(defect, () => judge(copy, defect.noticedBy, servers));
  } catch (error) {
    return { kind: "broken", why: (error as Error).message };
  }
}

/** Handles each item with one of the copies, as many at once as there are copies. */
async function eachWith<T>(
  all: readonly T[],
  copies: readonly Copy[],
  work: (one: T, copy: Copy) => Promise<void>,
): Promise<void> {
  const left = [...all];
  await Promise.all(
    copies.map(async (copy) => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next, copy);
    }),
  );
}

/** Starts the servers once for all tests, and only if a test may need one. */
async function startServers(
  defects: readonly Listed[],
): Promise<{ servers: Servers; stop: () => Promise<void> }> {
  if (!defects.some(({ noticedBy }) => noticedBy.file.startsWith("test/")))
    return { servers: { postgres: "off", mariadb: "off" }, stop: async () => {} };
  const [postgres, mariadb] = await Promise.all([
    given("SLUICE_TEST_POSTGRES", startPostgres),
    given("SLUICE_TEST_MARIADB", startMariadb),
  ]);
  return {
    servers: { postgres: postgres.url, mariadb: mariadb.url },
    stop: async () => void (await Promise.all([postgres.stop(), mariadb.stop()])),
  };
}

async function given(
  variable: string,
  start: () => Promise<StartedServer>,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const url = process.env[variable];
  if (url) return { url, stop: async () => {} };
  try {
    return await start();
  } catch (error) {
    console.log(`Without ${variable.replace("SLUICE_TEST_", "")}: ${(error as Error).message}`);
    return { url: "off", stop: async () => {} };
  }
}

// The exit handlers remove the copies and stop the servers.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  if (!(error instanceof ListError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
