// How the children of these tests are started from TypeScript.

export const entry = new URL("entry.ts", import.meta.url);
export const execArgv: readonly string[] = ["--import", "tsx"];
