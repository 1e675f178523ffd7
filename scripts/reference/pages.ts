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
  "Every error of Sluice has a `code`. Codes are stable, so a program can branch on them. Messages may change. The field `remedies` of an error lists [remedies](#remedies) as data. Errors that your own code throws keep their own codes.",
  ...ERROR_GROUPS.map(
    ([title, codes]) =>
      `## ${title}\n\n${table(
        ["Code", "Meaning", "Remedy"],
        Object.entries(codes).map(([name, { means, cure }]) => [code(name), means, cure]),
      )}`,
  ),
  `## Remedies\n\nA remedy is an \`action\` with its arguments. The command line prints it as a command.\n\n${table(
    ["Action", "Effect"],
    Object.entries(REMEDIES).map(([action, { means }]) => [code(action), means]),
  )}`,
);

const eventTable = (kinds: Readonly<Record<string, EventMeaning>>): string =>
  table(
    ["Kind", "Meaning", "Data"],
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
  "An **event** is a numbered entry in the history of one subject: a task, a lane, a gate or a trigger. The numbers have no gaps. `sluice.events(id)` returns the history of a subject. `sluice.runs.events(id)` returns the history of a run, with the kinds of [the history of a run](#the-history-of-a-run). A **change** is an entry of [the feed](../feed.md), which reports all subjects as they change.",
  ...EVENT_GROUPS.map(([title, kinds]) => `## ${title}\n\n${eventTable(kinds)}`),
  `## The history of a run\n\n\`sluice.runs.events(id)\` returns these kinds. The store does not keep them: Sluice computes them from the events above.\n\n${eventTable(RUN_EVENTS)}`,
  `## Only in the feed\n\n[The feed](../feed.md) (\`sluice.changes()\`) reports the kinds above, except \`LaneWaiting\`, \`StepSlotWaiting\` and \`StepSlotReleased\`. Changes to the tasks of a run have the kinds \`Run…\` and \`Step…\`. The feed also reports these kinds, which no history contains:\n\n${eventTable(FEED_EVENTS)}`,
  `## Hints\n\nA hint is a message that wakes listeners. It says where to look. It may be lost, because workers also poll.\n\n${table(
    ["Hint", "Meaning"],
    Object.entries(HINTS).map(([hint, means]) => [code(hint), means]),
  )}`,
);

const sayLimit = (limit: Limit): string =>
  limit === null ? "unset" : limit === UNLIMITED ? "unlimited" : String(limit);

const gates = page(
  "Kinds of gates",
  "A gate is anything with a limit. The first word of its key is its kind. A unit (a task, a run, a step or an item of a list) asks several gates for slots. It gets all of these slots or none.",
  table(
    ["Key", "What it limits", "Asked for by", "Line", "Default limit", "Name in messages"],
    Object.entries(KINDS).map(([kind, { key, means, askedBy, line, limit, title }]) => [
      key.split(" or ").map(code).join(" or "),
      means,
      askedBy,
      code(line),
      kind === "run" ? "set by the run: see below" : sayLimit(limit),
      title(key.includes(":") ? (key.split(" or ")[0] ?? "").slice(key.indexOf(":") + 1) : ""),
    ]),
  ),
  "The default limit applies if no app and no operator gives another one. An *unset* gate admits nothing until somebody sets its limit. The gates `run:ID/NAME` get their limits when the run starts: `workers` gets the CPU count of the machine that submits, `in-process` gets 1, and the others are unlimited, unless the [executor](../executors.md) or the [step](../fan-out.md#the-window) says otherwise. A single value of a pool (`pool:NAME=VALUE`) has the limit of `pool:NAME=*`.",
  "The line says who may overtake. `skip`: a blocked unit is passed over. `strict`: nothing overtakes the first unit. `bypass`: a small ask may overtake a large one, but at most 100 times or for one minute.",
);

export const PAGES: Readonly<Record<string, string>> = {
  "errors.md": errors,
  "events.md": events,
  "gates.md": gates,
};
