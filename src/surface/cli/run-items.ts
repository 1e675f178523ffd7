/** `sluice runs items RUN STEP` lists the items of a step over a list, page by page. */
import type { Command } from "commander";
import type { ItemView } from "../../api/item-view.ts";
import type { StepView } from "../../api/run-view.ts";
import type { Sluice } from "../../api/sluice.ts";
import { SluiceError } from "../../core/error.ts";
import { gateTitle } from "../../core/gate/kind.ts";
import { sayDuration } from "../../core/time.ts";
import { withRun } from "./common.ts";
import { findRun } from "./find.ts";
import { atLeastOne, zeroOrMore } from "./numbers.ts";
import { print } from "./output.ts";
import { sayError } from "./run-ending.ts";
import { historyOf } from "./run-history.ts";
import { stateCell } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { toPaste } from "./settings.ts";
import type { Cell } from "./table.ts";
import { table } from "./table.ts";
import { colours, cutTo } from "./text.ts";
import { withStore } from "./with-store.ts";

interface Options extends GlobalOptions {
  readonly after?: number;
  readonly limit: number;
  readonly failed?: boolean;
  readonly events?: boolean;
}

export function addRunItems(runs: Command): void {
  withRun(runs.command("items"))
    .argument("<step>", "the name of a step over a list")
    .description("the items of a step over a list, in their order: state, attempt, input and result")
    .option("--after <index>", "only items after this index: for the next page", zeroOrMore)
    .option("--limit <n>", "list at most this many", atLeastOne, 50)
    .option("--failed", "only items that failed, expired or were quarantined")
    .option("--events", "what happened to each item of the page, in order")
    .action((run: string, step: string, _, command: Command) => list(run, step, command.optsWithGlobals()));
}

function list(given: string, step: string, options: Options): Promise<void> {
  return withStore(options, async (sluice) => {
    const run = await findRun(sluice, given, options);
    await mustHaveItems(sluice, run, step, options);
    if (options.events) return printEvents(sluice, run, step, options);
    const items = await (options.failed ? failedItems : page)(sluice, run, step, options);
    print(options, items, () => shown(items, options));
  });
}

async function printEvents(sluice: Sluice, run: string, step: string, options: Options): Promise<void> {
  const events = await sluice.runs.itemEvents(run, step, {
    after: options.after ?? -1,
    limit: options.limit,
  });
  print(options, events, () => (events.length === 0 ? "No items." : historyOf(events)));
}

const page = (sluice: Sluice, run: string, step: string, { after, limit }: Options): Promise<ItemView[]> =>
  sluice.runs.items(run, step, { after: after ?? -1, limit });

/** The number of items per read when looking for failed ones, which may be rare. */
const A_PAGE = 1_000;
const FAILED: ReadonlySet<ItemView["state"]> = new Set(["failed", "expired", "quarantined"]);

async function failedItems(sluice: Sluice, run: string, step: string, options: Options): Promise<ItemView[]> {
  const found: ItemView[] = [];
  let after = options.after ?? -1;
  for (;;) {
    const items = await sluice.runs.items(run, step, { after, limit: A_PAGE });
    found.push(...items.filter(({ state }) => FAILED.has(state)));
    if (items.length < A_PAGE || found.length >= options.limit) return found.slice(0, options.limit);
    after = items.at(-1)?.index as number;
  }
}

async function mustHaveItems(sluice: Sluice, run: string, name: string, options: Options): Promise<void> {
  const steps = (await sluice.runs.get(run))?.steps ?? [];
  const step = steps.find((each) => each.name === name);
  if (!step)
    throw new SluiceError(
      "UNKNOWN_STEP",
      `run ${run} has no step "${name}". It has: ${steps.map((each) => each.name).join(", ")}`,
    );
  if (!step.items) throw new SluiceError("NO_ITEMS", withoutItems(run, step, options));
}

function withoutItems(run: string, { name, unit, state }: StepView, options: Options): string {
  if (unit !== null)
    return `step "${name}" is one task, not a list. See: ${toPaste(options, `tasks show ${unit}`)}`;
  const see = `See: ${toPaste(options, `runs show ${run}`)}`;
  return state === "pending"
    ? `step "${name}" has not started, so it has no items yet. ${see}`
    : `step "${name}" ${state === "skipped" ? "was skipped" : "did not start"}, so it has no items. ${see}`;
}

/** The data for scripts contains the full text. */
const MOST_INPUT = 30;
const MOST_RESULT = 200;

function shown(items: readonly ItemView[], { limit, failed }: Options): string {
  if (items.length === 0) return failed ? "No failed items." : "No items.";
  const rows = items.map((item) => [
    String(item.index),
    item.unit,
    stateCell(item.state),
    item.attempt === 0 ? "-" : String(item.attempt),
    sayWaits(item.waits),
    cutTo(JSON.stringify(item.input) ?? "", MOST_INPUT),
    resultCell(item),
  ]);
  const more = items.length === limit ? `More: --after ${items.at(-1)?.index}\n` : "";
  return table(["#", "task", "state", "attempt", "waited", "input", "result"], rows) + more;
}

const sayWaits = (waits: ItemView["waits"]): string =>
  waits.map(({ gate, forMs }) => `${sayDuration(forMs)} on ${gateTitle(gate)}`).join(", ") || "-";

function resultCell({ state, result, error }: ItemView): Cell {
  if (state === "succeeded") return { text: cutTo(JSON.stringify(result) ?? "", MOST_RESULT) };
  if (!error) return { text: "" };
  const by = (error as { readonly by?: unknown }).by;
  if (state === "cancelled") return { text: sayCancelled(by), style: colours.dim };
  return { text: cutTo(sayError(error), MOST_RESULT), style: colours.red };
}

/** Says why it was cancelled. */
function sayCancelled(by: unknown): string {
  if (by === "onFailure") return "because another item failed";
  return by === "run" ? "with its run" : typeof by === "string" ? `by ${by}` : "";
}
