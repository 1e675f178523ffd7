/** Loads an app file, TypeScript or JavaScript, without a build step. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { App } from "../../core/app/app.ts";
import { SluiceError } from "../../core/error.ts";
import type { LoadWatch } from "./app-loading.ts";
import { watchLoading } from "./app-loading.ts";

interface AppFile {
  readonly app: App;
  /** All exports of the file. */
  readonly exports: Readonly<Record<string, unknown>>;
}

const WANTED = "It must say: export default defineApp({ tasks: [ … ] })";

export async function loadAppFile(file: string, watch: LoadWatch = {}): Promise<AppFile> {
  const path = resolve(file);
  if (!existsSync(path))
    throw new SluiceError("NO_APP_FILE", `There is no file ${file} (looked for ${path}).`);
  const exports = await evaluate(file, path, watch);
  const app = isApp(exports) ? exports : exports.default;
  if (app === undefined) throw new SluiceError("BAD_APP", `${file} has no default export. ${WANTED}`);
  if (!isApp(app))
    throw new SluiceError("BAD_APP", `The default export of ${file} was not made by defineApp. ${WANTED}`);
  return { app, exports };
}

async function evaluate(file: string, path: string, watch: LoadWatch): Promise<Record<string, unknown>> {
  // jiti takes half of our start-up time, and most commands load no app.
  const { createJiti } = await import("jiti");
  const jiti = createJiti(pathToFileURL(path).href, { interopDefault: false });
  try {
    const load = () => jiti.import<Record<string, unknown> | undefined>(path);
    return (await watchLoading(file, watch, load)) ?? {};
  } catch (cause) {
    const { name, code, message } = cause as Partial<SluiceError>;
    if (name === "SluiceError" || name === "ConfigError") throw cause;
    const what = message || String(code ?? cause);
    throw new SluiceError("BAD_APP", `${file} could not be loaded: ${what}`, { cause });
  }
}

/** Checks the shape, not the class: the app may come from another copy of the package. */
function isApp(value: unknown): value is App {
  const app = value as Partial<App> | null | undefined;
  return (
    app?.tasks instanceof Map &&
    Array.isArray(app.queues) &&
    Array.isArray(app.pools) &&
    app.session !== undefined
  );
}
