import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const mark = "bench-result ";

/**
 * Runs a module that calls `asChild` in its own process and returns its result. Two systems in one process
 * would share a heap, a JIT and an event loop.
 */
export function inChild<Result>(module: URL, options: object, limitMs = 120_000): Promise<Result> {
  return new Promise((resolve, reject) => {
    // execArgv contains tsx's loader, so the child can read TypeScript, too.
    const child = spawn(
      process.execPath,
      [...process.execArgv, fileURLToPath(module), JSON.stringify(options)],
      {
        stdio: ["ignore", "pipe", "pipe", "ipc"],
      },
    );
    let out = "";
    let errors = "";
    let late = false;
    const limit = setTimeout(() => {
      late = true;
      child.kill("SIGKILL");
    }, limitMs);
    child.stdout?.on("data", (data) => {
      out += data;
    });
    child.stderr?.on("data", (data) => {
      errors = (errors + data).slice(-4_000);
    });
    child.once("error", reject);
    child.once("close", (code, signal) => {
      clearTimeout(limit);
      const line = out.split("\n").find((each) => each.startsWith(mark));
      if (late) reject(new Error(`killed after ${limitMs / 1_000} s`));
      else if (line) resolve(JSON.parse(line.slice(mark.length)) as Result);
      else reject(new Error(`ended with ${signal ?? `code ${code}`}: ${firstError(errors)}`));
    });
  });
}

/** The child's half. Does nothing if the module was only imported. */
export async function asChild<Options, Result>(
  moduleUrl: string,
  work: (options: Options) => Promise<Result>,
): Promise<void> {
  if (process.argv[1] !== fileURLToPath(moduleUrl)) return;
  // The channel closes with the parent. Without this, a peer would wait forever for its lost server.
  process.once("disconnect", () => process.exit(1));
  const result = await work(JSON.parse(process.argv[2] ?? "{}") as Options);
  process.stdout.write(`${mark}${JSON.stringify(result)}\n`, () => process.exit(0));
}

function firstError(errors: string): string {
  const lines = errors.split("\n").map((line) => line.trim());
  return (
    lines.find((line) => /^\w*error\b[^.]*[:[]/i.test(line)) ??
    lines.find((line) => line !== "") ??
    "no message"
  );
}
