// The pages of docs/reference, generated from the tables in src/core, so that code and documentation cannot
// differ.

import { ERROR_GROUPS } from "../../src/core/error-code.ts";
import type { EventMeaning } from "../../src/core/event.ts";
import { EVENT_GROUPS, FEED_EVENTS } from "../../src/core/event.ts";
import type { Limit } from "../../src/core/gate/gate.ts";
import { UNLIMITED } from "../../src/core/gate/gate.ts";
import { KINDS } from "../../src/core/gate/kind.ts";
import { HINTS } from "../../src/core/hint.ts";
import { REMEDIES } from "../../src/core/remedy.ts";
import { RUN_EVENTS } from "../../src/core/run/event.ts";

const MADE = "<!-- Made from src/core by `npm run docs`. Change the tables there, not this page. -->";

function page(title: string, intro: string, ...parts: readonly string[]): string {
  return `${[`# ${title}`, MADE, intro, ...parts].join("\n\n")}\n`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

const cell = (text: string): string => text.replaceAll("|", "\\|");
const code = (text: string): string => `\`${text}\``;

const errors = page(
  "Error codes",
  "Every error of Sluice has a stable `code`. Branch on it, never on the message. `remedies` holds what would help, as data. Errors that your own code throws keep their own codes.",
  ...ERROR_GROUPS.map(
    ([title, codes]) =>
      `## ${title}\n\n${table(
        ["Code", "What it means", "What to do"],
        Object.entries(codes).map(([name, { means, cure }]) => [code(name), means, cure]),
      )}`,
  ),
  `## Remedies\n\nA remedy is an \`action\` with its arguments. The command line says it as a command, a program as a call.\n\n${table(
    ["Action", "What it does"],
    Object.entries(REMEDIES).map(([action, { means }]) => [code(action), means]),
  )}`,
);

const eventTable = (kinds: Readonly<Record<string, EventMeaning>>): string =>
  table(
    ["Kind", "What happened", "Data"],
    Object.entries(kinds).map(([kind, { means, data }]) => [
      code(kind),
      means,
      Object.entries(data)
        .map(([field, meaning]) => `${code(field)}: ${meaning}`)
        .join("; "),
    ]),
  );

const events = page(
  "Events",
  "`sluice.events(id)` returns the history of a task or a gate, one event per transition, numbered without gaps. `sluice.runs.events(id)` returns the history of a run in its own words.",
  ...EVENT_GROUPS.map(([title, kinds]) => `## ${title}\n\n${eventTable(kinds)}`),
  `## The history of a run\n\nThese are told, not stored: they are made from the events above.\n\n${eventTable(RUN_EVENTS)}`,
  `## Only in the feed\n\n\`sluice.changes()\` tells all of the above as it happens, and what no history keeps:\n\n${eventTable(FEED_EVENTS)}`,
  `## Hints\n\nA hint wakes those who listen. It says where to look and carries no fact.\n\n${table(
    ["Hint", "What it says"],
    Object.entries(HINTS).map(([hint, means]) => [code(hint), means]),
  )}`,
);

const sayLimit = (limit: Limit): string =>
  limit === null
    ? "none: it admits nobody until somebody sets one"
    : limit === UNLIMITED
      ? "unlimited"
      : String(limit);

const gates = page(
  "Kinds of gates",
  "A gate is anything with a limit. The kind is the first word of its key. A unit asks for slots of several gates and gets all of them or none.",
  table(
    ["Key", "What it limits", "Who asks for it", "Line", "Limit unless set", "In sentences"],
    Object.values(KINDS).map(({ key, means, askedBy, line, limit, title }) => [
      code(key),
      means,
      askedBy,
      code(line),
      sayLimit(limit),
      title(key.includes(":") ? (key.split(" or ")[0] ?? "").slice(key.indexOf(":") + 1) : ""),
    ]),
  ),
  "A line is served in one of three ways. `skip`: a blocked unit is passed over. `strict`: the front goes first. `bypass`: small asks may overtake a large one, within a bound.",
);

export const PAGES: Readonly<Record<string, string>> = {
  "errors.md": errors,
  "events.md": events,
  "gates.md": gates,
};
