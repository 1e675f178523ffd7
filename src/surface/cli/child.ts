/** What runs in each process of `sluice worker --processes`: the app's code, and nothing that knows the store. */
import { FunctionExecutor } from "../../executor/function/function-executor.ts";
import { serveParent } from "../../executor/process/serve-parent.ts";
import { loadApp } from "./load-app.ts";

await serveParent(async () => new FunctionExecutor((await loadApp(process.argv[2] ?? "")).app.tasks));
