/** All types of runs, steps and their news in one place. */
export * from "./ports/advancing.ts";
export type { GateHolder } from "./ports/holdings.ts";
export type { LineView } from "./ports/lines.ts";
export type { News } from "./ports/reports.ts";
export * from "./ports/runs.ts";
export * from "./ports/step-key.ts";
export * from "./ports/steps.ts";
export * from "./ports/waiting.ts";
