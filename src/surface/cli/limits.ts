/** `sluice limits list|set|reset|delete` */
import type { Command } from "commander";
import type { LimitView } from "../../api/limits.ts";
import type { Sluice } from "../../api/sluice.ts";
import { sayStopping } from "../../core/gate/describe.ts";
import type { Limit } from "../../core/gate/gate.ts";
import { UNLIMITED } from "../../core/gate/gate.ts";
import { familyOf } from "../../core/gate/key.ts";
import { isOfFile } from "../../core/gate/source.ts";
import type { AppSaying } from "../../store/store.ts";
import { withBy } from "./common.ts";
import type { ListOptions } from "./idle.ts";
import { leftOut, listed, withFilter } from "./idle.ts";
import { limitNumber } from "./numbers.ts";
import { print } from "./output.ts";
import { ago, count, sayLimit, sayUse } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { appFile, toPaste, whoever } from "./settings.ts";
import { quoted } from "./shell.ts";
import { table } from "./table.ts";
import { safe } from "./text.ts";
import { withStore } from "./with-store.ts";

type Options = GlobalOptions & { readonly by?: string; readonly new?: boolean };

export function addLimits(program: Command): void {
  const limits = program.command("limits").description("see and change limits live");
  withFilter(limits.command("list"), "pool:, tag:tenant=")
    .description("the gates: how much is held, their limits, and who set them")
    .action((prefix: string | undefined, _, command: Command) =>
      listLimits(prefix ?? "", command.optsWithGlobals()),
    );
  withBy(limits.command("set"), "changes it")
    .description("set a limit; it survives restarts until it is reset")
    .argument("<key>", "the gate, as in the list: cluster, queue:stripe, pool:database")
    .argument(
      "<limit>",
      "1 or more, 0 to pause, -1 for unlimited; lowering it never stops running work",
      limitNumber,
    )
    .option("--new", "create the gate although no app declares it and nothing asks for it yet")
    .action((key: string, limit: number, _, command: Command) =>
      setLimit(key, limit, command.optsWithGlobals()),
    );
  withBy(limits.command("reset"), "changes it")
    .description("go back to the strictest limit that the apps declare")
    .argument("<key>", "the gate, as in the list")
    .action((key: string, _, command: Command) => resetLimit(key, command.optsWithGlobals()));
  limits
    .command("delete")
    .description("delete a gate that no app declares and nothing asks for")
    .argument("<key>", "the gate, as in the list")
    .action((key: string, _, command: Command) => deleteLimit(key, command.optsWithGlobals()));
}

function listLimits(prefix: string, options: ListOptions): Promise<void> {
  return withStore(options, async (sluice) => {
    const [all, now] = await Promise.all([sluice.limits.list(), sluice.now()]);
    const { shown: views, idle } = listed(all, options, ({ key }) => key.startsWith(prefix), isIdle);
    print(options, views, () => {
      const shown = options.all ? views : views.filter(saysSomething);
      const rest = leftOut(idle, "gate", options, "limits list");
      if (shown.length + idle === 0 && prefix !== "") return `No gate begins with "${safe(prefix)}".`;
      if (shown.length === 0 && idle > 0) return rest.trimStart();
      if (shown.length === 0)
        return `No limits yet. Apps declare them: ${toPaste(options, `dev ${appFile()}`)}`;
      const rows = shown.map((view) => [view.key, sayUse(view), view.line, saySource(view, now)]);
      return `${table(["gate", "held/limit", "line", "source"], rows)}${stillHeld(views, now)}${rest}`;
    });
  });
}

/** A gate that nobody has given a limit, and that nothing holds, is of no interest to a person. */
const saysSomething = ({ source, limit, held, paused }: LimitView): boolean =>
  source !== "default" || limit !== UNLIMITED || held > 0 || paused;

/** Its family says all there is to say of it. */
const isIdle = ({ perValue, held, paused, said, stopping }: LimitView): boolean =>
  perValue && held === 0 && !paused && stopping.length === 0 && said.every(({ limit }) => limit === null);

/** Each stopping unit once, with all gates that it holds. */
function stillHeld(views: readonly LimitView[], now: number): string {
  const all = new Map(
    views.flatMap(({ stopping }) => stopping).map((each) => [`${each.unit} ${each.since}`, each]),
  );
  return [...all.values()]
    .map((each) => {
      const gates = each.asks.map(({ gate }) => gate).join(", ");
      return `\n${each.unit} ${safe(each.name)}, ${sayStopping(each, now)}, holds ${safe(gates)}`;
    })
    .join("");
}

/** The origin and the time of the value in force, and in parentheses the declarations of other apps. */
function saySource({ source, setBy, setAt, said, limit, perValue }: LimitView, now: number): string {
  const apps = said.filter((each) => each.limit !== null);
  const isDeclared = source === "app" || source === "file";
  const others = apps.filter((each) => !isDeclared || perValue || each.limit !== limit);
  const rest = others.length === 0 ? "" : ` (${others.map(sayApp).join(", ")})`;
  if (perValue) return `per value${rest}`;
  if (source === "default") return source;
  if (isDeclared) {
    const first = apps.find((each) => each.limit === limit);
    return `${first ? `${sayName(first)} ${ago(Math.max(first.at, setAt ?? 0), now)}` : source}${rest}`;
  }
  // Plain SQL leaves neither a name nor a date.
  const who = setBy === null ? "" : ` ${setBy}${setAt === null ? "" : ` ${ago(setAt, now)}`}`;
  return `${source}${who}${rest}`;
}

export const sayName = ({ app }: { readonly app: string }): string =>
  app === "" ? "app of an earlier version" : isOfFile(app) ? app : `app ${app}`;

const sayApp = (said: AppSaying): string => `${sayName(said)}: ${sayLimit(said.limit)}`;

function setLimit(key: string, limit: number, options: Options): Promise<void> {
  return withStore(options, async (sluice) => {
    const [before, isKnown] = await Promise.all([sluice.limits.list(), sluice.limits.isKnown(key)]);
    const changed = await sluice.limits.set(key, limit, whoever(options.by), { isNew: options.new ?? false });
    const replaced = replacedBy(key, before);
    const note =
      replaced.length > 0 ? replaces(key, replaced, options) : isKnown ? "" : newNote(key, options);
    await tell(sluice, key, changed, options, note);
  });
}

/** A limit that an operator sets for one value replaces the declared limit of this value and the limit per value. */
function replacedBy(key: string, before: readonly LimitView[]): string[] {
  const family = before.find((view) => view.key === familyOf(key));
  if (familyOf(key) === null) return [];
  const own = before.find((view) => view.key === key);
  const isDeclared = own?.said.some(({ limit }) => limit !== null);
  return [
    ...(own && isDeclared ? [`the declared limit of ${sayLimit(own.declared)}`] : []),
    ...(family && isLimited(family)
      ? [`the limit per value (${family.key}: ${sayLimit(family.limit)})`]
      : []),
  ];
}

const isLimited = ({ limit }: LimitView): boolean => limit !== null && limit !== UNLIMITED;

const replaces = (key: string, replaced: readonly string[], options: Options): string =>
  `\nFor this value it replaces ${replaced.join(" and ")}. To undo: ${toPaste(options, `limits reset ${quoted(key)}`)}`;

export const newNote = (key: string, options: GlobalOptions): string =>
  `\nNo app declares this gate and nothing has asked for it yet. If the name is a typo: ${toPaste(options, `limits delete ${quoted(key)}`)}`;

function deleteLimit(key: string, options: Options): Promise<void> {
  return withStore(options, async (sluice) => {
    await sluice.limits.delete(key);
    print(options, { key, deleted: true }, () => `${key} is no longer in the store.`);
  });
}

function resetLimit(key: string, options: Options): Promise<void> {
  return withStore(options, async (sluice) => {
    const changed = await sluice.limits.reset(key, whoever(options.by));
    await tell(sluice, key, changed, options, "");
  });
}

async function tell(
  sluice: Sluice,
  key: string,
  { from, limit }: { from: Limit; limit: Limit },
  options: Options,
  note: string,
): Promise<void> {
  const view = (await sluice.limits.list()).find((each) => each.key === key);
  const data = {
    key,
    from,
    limit,
    held: view?.held ?? 0,
    draining: view?.draining ?? false,
    paused: view?.paused ?? false,
  };
  print(options, data, () => {
    const change =
      from === limit
        ? `${key} stays at ${sayLimit(limit)}`
        : `${key}: ${sayLimit(from)} → ${sayLimit(limit)}`;
    const back = limit === 0 ? ` To resume: ${toPaste(options, `limits reset ${quoted(key)}`)}` : "";
    return `${change}${consequence(data)}${back}${note}`;
  });
}

/** Says what a new limit means for running and waiting work. */
export function consequence({
  held,
  limit,
  draining,
  paused,
}: {
  held: number;
  limit: Limit;
  draining: boolean;
  paused: boolean;
}): string {
  const running = held === 0 ? "" : ` ${count(held, "slot")} still held; running work continues.`;
  if (limit === 0) return `, paused: nothing new starts.${running}`;
  if (paused) return `, but it is paused: nothing starts until it is resumed.${running}`;
  if (draining)
    return `, draining: ${held} held. Running work continues; nothing new starts until enough of it has ended.`;
  return "";
}
