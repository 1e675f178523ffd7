// The pages of docs/reference, generated from the tables in src/core, so that code and documentation cannot
// differ.

import { ERROR_GROUPS } from "../../src/core/error-code.ts";
import type { EventMeaning } from "../../src/core/event.ts";
import { ERROR, EVENT_GROUPS, FEED_EVENTS } from "../../src/core/event.ts";
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
    Object.entries(kinds).map(([kind, { means, data }]) => [code(kind), means, sayData(data)]),
  );

/** The fields of an error are explained once, not with every kind. */
function sayData(data: EventMeaning["data"]): string {
  const isError = Object.keys(ERROR).every((field) => field in data);
  const own = Object.entries(data).filter(([field]) => !(isError && field in ERROR));
  const said = own.map(([field, meaning]) => `${code(field)}: ${meaning}`);
  return [...(isError ? ["the fields of [an error](#an-error)"] : []), ...said].join("; ");
}

const anError = table(
  ["Field", "Meaning"],
  Object.entries(ERROR).map(([field, meaning]) => [code(field), meaning]),
);

const events = page(
  "Events",
  "An **event** is an entry in the history of one task, run, lane, gate or trigger. `sluice.events(id)` returns the stored events of one of these subjects, numbered without gaps. `sluice.runs.events(id)` returns the history of a run together with its steps: see [the history of a run](#the-history-of-a-run). The entries of this history have no numbers. A **change** is an entry of [the feed](../feed.md).",
  `## An error\n\nThe data of several kinds of events is an error. The error has these fields. Only \`message\` is always there.\n\n${anError}`,
  ...EVENT_GROUPS.map(([title, kinds]) => `## ${title}\n\n${eventTable(kinds)}`),
  `## The history of a run\n\n\`sluice.runs.events(id)\` returns these kinds. The store does not keep them. Sluice computes them from the stored events of the run, its steps and its gates.\n\n${eventTable(RUN_EVENTS)}`,
  `## Only in the feed\n\n[The feed](../feed.md) (\`sluice.changes()\`) reports the kinds above. Three kinds are not in the feed: \`LaneWaiting\`, \`StepSlotWaiting\` and \`StepSlotReleased\`. A filter that names one of them is refused. Changes of a run have the kinds \`Run…\`, and changes of its steps have the kinds \`Step…\`. The feed also reports these kinds, which are in no history:\n\n${eventTable(FEED_EVENTS)}`,
  `## Hints\n\nA hint is a message that wakes listeners. It says where to look. A hint may be lost, so workers also poll.\n\n${table(
    ["Hint", "Meaning"],
    Object.entries(HINTS).map(([hint, means]) => [code(hint), means]),
  )}`,
);

const LINES = `The line says which units may overtake:

- \`skip\`: every unit behind a blocked unit may overtake it.
- \`bypass\`: small asks may overtake a large ask. After 100 overtakes, or after one minute, freed slots are saved up for the large ask. In each lane, only the first unit counts overtakes and time.
- \`strict\`: the first unit goes first. Later units may overtake it only in these cases:
  - It also waits for a \`skip\` gate.
  - One of its gates is paused or unset.
  - It asks for more slots than a limit allows.
  - No worker that can run it is free.`;

const sayLimit = (limit: Limit): string =>
  limit === null ? "unset" : limit === UNLIMITED ? "unlimited" : String(limit);

/** The gates of a run have different titles. */
const OF_A_RUN = ["workers", "async", "in-process", "pods", "items/STEP"].map((name) => `ID/${name}`);

const namedIn = (key: string): string =>
  key.includes(":") ? (key.split(" or ")[0] ?? "").slice(key.indexOf(":") + 1) : "";

const gates = page(
  "Kinds of gates",
  "A gate is a place where slots are counted. It can have a limit. The first word of its key is its kind. A unit (a task, a run, a step or an item of a list) asks several gates for slots. It gets all of these slots or none.",
  table(
    ["Key", "What it limits", "Asked for by", "Line", "Default limit", "Name in messages"],
    Object.entries(KINDS).map(([kind, { key, means, askedBy, line, limit, title }]) => [
      key.split(" or ").map(code).join(" or "),
      means,
      askedBy,
      code(line),
      kind === "run" ? "set by the run: see below" : sayLimit(limit),
      (kind === "run" ? OF_A_RUN : [namedIn(key)]).map(title).join(", "),
    ]),
  ),
  "The default limit applies if no app and no operator gives another one. An *unset* gate admits nothing until somebody sets its limit. The gates `run:ID/NAME` get their limits when the run starts. The [executor](../executors.md) sets the limits of `workers`, `async`, `in-process` and `pods`. The [step](../fan-out.md#the-window) sets the limit of `items/STEP`. If they set none, `workers` gets the CPU count of the machine that submits, and `in-process` gets 1. The others are then unlimited. A single value of a pool (`pool:NAME=VALUE`) has the limit of `pool:NAME=*`.",
  LINES,
);

export const PAGES: Readonly<Record<string, string>> = {
  "errors.md": errors,
  "events.md": events,
  "gates.md": gates,
};
