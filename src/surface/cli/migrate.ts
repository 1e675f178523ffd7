/** `sluice migrate`. The embedded store migrates by itself; other stores only on this command. */
import type { Command } from "commander";
import { openStore } from "../../api/open-store.ts";
import { SluiceError } from "../../core/error.ts";
import { migrations, recordVersion, SCHEMA_VERSION, versionTable } from "../../store/schema.ts";
import type { Dialect } from "../../store/sql.ts";
import { print } from "./output.ts";
import type { GlobalOptions } from "./settings.ts";
import { fileOf, sayStore, storeUrl } from "./settings.ts";
import { mustBeUsable } from "./store-file.ts";

type Options = GlobalOptions & { readonly print?: boolean };

const DIALECTS: Readonly<Record<string, Dialect>> = {
  file: "sqlite",
  postgres: "postgres",
  postgresql: "postgres",
  mysql: "mysql",
  mariadb: "mysql",
};

export function addMigrate(program: Command): void {
  program
    .command("migrate")
    .description("bring the tables of the store up to date")
    .option("--print", "print the SQL instead, without connecting")
    .action((_, command: Command) => migrate(command.optsWithGlobals()));
}

async function migrate(options: Options): Promise<void> {
  const url = storeUrl(options);
  if (options.print) return printSql(url, options);
  const file = fileOf(url);
  if (file !== undefined) mustBeUsable(file);
  const store = await openStore(url, { migrate: true });
  await store.close();
  print(
    options,
    { store: sayStore(url), version: SCHEMA_VERSION },
    () => `${sayStore(url)} is at schema ${SCHEMA_VERSION}.`,
  );
}

function printSql(url: string, options: Options): void {
  const dialect = DIALECTS[url.slice(0, url.indexOf(":"))];
  if (!dialect)
    throw new SluiceError(
      "BAD_STORE_URL",
      `"${sayStore(url)}" has no SQL to print. Name a SQL store: --store postgres://… or mysql://…`,
    );
  const numbered = migrations(dialect).flatMap((each, index) => [...each, recordVersion(index + 1)]);
  const statements = [versionTable(dialect), ...numbered];
  print(options, { dialect, version: SCHEMA_VERSION, statements }, () =>
    statements.map((each) => `${each};\n`).join(""),
  );
}
