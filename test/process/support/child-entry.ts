// The path of the children's entry module. The children get none of this process's own flags.

import { plainModule } from "../../support/plain-module.ts";

export const entry = await plainModule(new URL("entry.ts", import.meta.url));
export const execArgv: readonly string[] = [];
