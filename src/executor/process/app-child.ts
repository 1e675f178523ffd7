/**
 * The entry module of each process that serves an app file. It loads the app's code and nothing that knows
 * the store.
 */
import { FunctionExecutor } from "../function/function-executor.ts";
import { loadAppFile } from "./app-file.ts";
import { sayFailed, serveParent } from "./serve-parent.ts";

await serveParent(async () => {
  const { app } = await loadAppFile(process.argv[2] ?? "", { exiting: sayFailed, isWatched: true });
  return new FunctionExecutor(app.tasks);
});
