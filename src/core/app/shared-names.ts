/**
 * Tasks and workflows that several apps on one store declare. The store finds them by name alone, so such apps
 * share them. A web app and a worker app may want exactly that; two unrelated apps do not.
 */

/** The tasks and workflows that an app declares. */
export interface AppNames {
  readonly app: string;
  readonly tasks: readonly string[];
  readonly workflows: readonly string[];
}

type NamedKind = "task" | "workflow";

/** Names that the same other apps declare, too. */
export interface SharedNames {
  readonly kind: NamedKind;
  /** Sorted. */
  readonly names: readonly string[];
  /** Sorted. */
  readonly apps: readonly string[];
}

/** What other apps declare of `mine`, grouped by those apps. Another version of the same app is no other app. */
export function sharedWith(mine: AppNames, all: readonly AppNames[]): SharedNames[] {
  const others = all.filter(({ app }) => app !== mine.app);
  return [
    ...grouped("task", mine.tasks, (name) => others.filter(({ tasks }) => tasks.includes(name))),
    ...grouped("workflow", mine.workflows, (name) =>
      others.filter(({ workflows }) => workflows.includes(name)),
    ),
  ];
}

/** Everything that two apps or more declare, with all of its apps. */
export function sharedAmong(all: readonly AppNames[]): SharedNames[] {
  const shared = (kind: NamedKind, namesOf: (app: AppNames) => readonly string[]): SharedNames[] =>
    grouped(kind, all.flatMap(namesOf), (name) => {
      const apps = all.filter((app) => namesOf(app).includes(name));
      return apps.length > 1 ? apps : [];
    });
  return [...shared("task", ({ tasks }) => tasks), ...shared("workflow", ({ workflows }) => workflows)];
}

function grouped(
  kind: NamedKind,
  names: readonly string[],
  declaring: (name: string) => readonly AppNames[],
): SharedNames[] {
  const groups = new Map<string, { kind: NamedKind; names: string[]; apps: string[] }>();
  for (const name of [...new Set(names)].sort()) {
    const apps = declaring(name).map(({ app }) => app);
    if (apps.length === 0) continue;
    apps.sort();
    const group = groups.get(apps.join(" ")) ?? { kind, names: [], apps };
    group.names.push(name);
    groups.set(apps.join(" "), group);
  }
  return [...groups.values()];
}

/** `task "mail" is also declared by app "beta". Either app may run it, and both share its idempotency keys.` */
export function sayAlso({ kind, names, apps }: SharedNames): string {
  const [is, them, their] = names.length === 1 ? ["is", "it", "its"] : ["are", "them", "their"];
  const [any, both] = apps.length === 1 ? ["Either app", "both"] : ["Any of these apps", "all"];
  return `${sayNames(kind, names)} ${is} also declared by ${sayApps(apps)}. ${any} may run ${them}, and ${both} share ${their} idempotency keys.${sayRuns(kind, names)}`;
}

/** `task "mail" is declared by app "alpha", app "beta": each of them may run it, and they share its idempotency keys` */
export function sayShared({ kind, names, apps }: SharedNames): string {
  const [is, them, their] = names.length === 1 ? ["is", "it", "its"] : ["are", "them", "their"];
  return `${sayNames(kind, names)} ${is} declared by ${sayApps(apps)}: each of these apps may run ${them}, and they share ${their} idempotency keys`;
}

const MOST_NAMED = 10;

function sayNames(kind: NamedKind, names: readonly string[]): string {
  const said = names.slice(0, MOST_NAMED).map((name) => `"${name}"`);
  const rest = names.length - said.length;
  return `${kind}${names.length === 1 ? "" : "s"} ${said.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

const sayApps = (apps: readonly string[]): string => apps.map((app) => `app "${app}"`).join(", ");

/** An automation knows the workflows that it waits for by their names. */
function sayRuns(kind: NamedKind, { length }: readonly string[]): string {
  if (kind === "task") return "";
  return ` Automations of each app react to ${length === 1 ? "its" : "their"} runs.`;
}
