/**
 * The filters and pages of lists. A misspelt field would list everything, and a misspelt state nothing, so both
 * are refused.
 */
import type { RunFilter, RunState, TaskFilter, TaskState } from "../store/store.ts";
import type { OptionNames } from "./call-options.ts";
import { checkChoice, knownOptions } from "./call-options.ts";

export const TASK_STATES: readonly TaskState[] = [
  "later",
  "waiting",
  "claimed",
  "running",
  "succeeded",
  "failed",
  "cancelled",
  "expired",
  "quarantined",
];

export const RUN_STATES: readonly RunState[] = [
  "queued",
  "notStarted",
  "started",
  "succeeded",
  "failed",
  "cancelled",
];

/** A page of a tree of runs. */
export interface TreePage {
  readonly limit?: number;
  /** The ID of the last run of the page before. */
  readonly after?: string;
}

const OF_TREE: OptionNames<TreePage> = { limit: true, after: true };

export const treePage = (given: TreePage): TreePage => knownOptions("runs.tree", given, OF_TREE);

/** A page of a list. */
export interface PageOptions {
  readonly limit?: number;
  readonly after?: number;
}

const OF_TASKS: OptionNames<TaskFilter> = { state: true, queue: true, name: true, before: true, limit: true };

/** The filter of a list of runs. Runs below others are listed by tree. */
export type ListedRuns = Omit<RunFilter, "root" | "after">;

const OF_RUNS: OptionNames<ListedRuns> = {
  state: true,
  workflow: true,
  tag: true,
  namespace: true,
  before: true,
  ids: true,
  limit: true,
};

const OF_PAGE: OptionNames<PageOptions> = { limit: true, after: true };

export function taskFilter(given: Partial<TaskFilter>): Partial<TaskFilter> {
  const filter = knownOptions("list", given, OF_TASKS);
  checkChoice("list: state", filter.state, TASK_STATES);
  return filter;
}

export function runFilter(given: Partial<ListedRuns>): Partial<ListedRuns> {
  const filter = knownOptions("runs.list", given, OF_RUNS);
  checkChoice("runs.list: state", filter.state, RUN_STATES);
  return filter;
}

/** `whose` begins the message: "runs.items". */
export const pageOptions = (whose: string, given: PageOptions): PageOptions =>
  knownOptions(whose, given, OF_PAGE);
