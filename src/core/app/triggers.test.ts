import { describe, expect, test } from "vitest";
import { z } from "zod";
import { automation, newer, schedule, sensor, succeeded } from "../schedule/definition.ts";
import { triggersOf } from "../schedule/trigger.ts";
import type { AppDefinition } from "./definition.ts";
import { triggerProblems } from "./triggers.ts";

const look = () => ({});

/** The problems of an app with the workflows a and b, each as "field: rule". */
const problems = (more: object): string[] =>
  [
    ...triggerProblems({
      tasks: [],
      workflows: [{ id: "a" }, { id: "b" }],
      ...more,
    } as unknown as AppDefinition),
  ].map(({ field, rule }) => `${field}: ${rule}`);

const nightly = { id: "nightly", workflow: "a", cron: "0 3 * * *" };

describe("schedules, sensors and automations", () => {
  test("that make sense have no problem", () => {
    expect(
      problems({
        schedules: [
          schedule({ ...nightly, workflow: { id: "a" }, timezone: "Europe/Berlin", catchUp: "all" }),
        ],
        sensors: [sensor({ id: "inbox", every: "30s", run: look })],
        automations: [automation({ workflow: "a", when: newer("b") })],
      }),
    ).toEqual([]);
  });

  test("that look again and again at once are refused: they would keep a processor busy", () => {
    const every = (text: string) => problems({ sensors: [{ id: "inbox", every: text, run: look }] });
    expect(every("0ms")).toEqual(["sensors.inbox.every: must be longer than 0ms"]);
    expect(every("9ms")).toEqual(["sensors.inbox.every: 9ms is too short: it must be at least 10ms"]);
    expect(every("10ms")).toEqual([]);
  });

  test("start a task or a workflow of the app, with an input that it takes", () => {
    const input = z.object({ to: z.string() });
    const tasks = [
      { id: "mail", input },
      { id: "slow", input: z.string().refine(async () => true) },
    ];
    const of = (schedule: object) =>
      problems({
        tasks,
        workflows: [{ id: "a", input }],
        schedules: [{ id: "n", cron: "0 3 * * *", ...schedule }],
      });
    expect(of({ task: "mail", input: { to: "a" } })).toEqual([]);
    expect(of({ task: { id: "mail" }, input: () => ({}) })).toEqual([]);
    expect(of({ workflow: "a", input: { to: "a" } })).toEqual([]);
    // A schema that answers later is asked when the schedule fires.
    expect(of({ task: "slow", input: 3n })).toEqual([
      expect.stringContaining("schedules.n.input: input: a BigInt"),
    ]);
    expect(of({ task: "mail", input: { to: 3 } })).toEqual([
      expect.stringMatching(/^schedules\.n\.input: does not match the schema of "mail": to: /),
    ]);
    expect(of({ workflow: "a" })).toEqual([
      expect.stringMatching(/^schedules\.n\.input: is missing, but the schema of "a" needs it: input: /),
    ]);
    expect(of({ task: "mial", input: 1 })).toEqual([
      'schedules.n.task: there is no task "mial" (known: mail, slow; did you mean "mail"?)',
    ]);
    expect(of({ task: 3 })).toEqual(["schedules.n.task: must be a task or its id, but is 3"]);
    expect(of({})).toEqual(["schedules.n.workflow: must be a workflow or its id, but is undefined"]);
    expect(of({ task: "mail", workflow: "a", input: { to: "a" }, tags: { a: "b" } })).toEqual([
      "schedules.n: names a task and a workflow",
    ]);
  });

  test("must be lists of them", () => {
    expect(problems({ schedules: {}, sensors: [3] })).toEqual([
      "schedules: must be a list, but is an object",
      "sensors[0]: must be a sensor, but is 3",
    ]);
  });

  test("have ids of their own, each kind for itself", () => {
    const both = { schedules: [nightly, nightly], sensors: [{ id: "nightly", every: "1s", run: look }] };
    expect(problems(both)).toEqual(['schedules[1].id: "nightly" is already the id of schedules[0]']);
    expect(problems({ schedules: [{ ...nightly, id: "my night" }] })).toEqual([
      'schedules[0].id: "my night" cannot be a schedule\'s id',
    ]);
    const twice = [
      automation({ workflow: "a", when: newer("b") }),
      automation({ workflow: "a", when: succeeded("b") }),
    ];
    expect(problems({ automations: twice })).toEqual([
      'automations[1].id: "a" is already the id of automations[0]',
    ]);
  });

  test("name workflows of the app", () => {
    expect(problems({ schedules: [{ ...nightly, workflow: "c" }] })).toEqual([
      'schedules.nightly.workflow: there is no workflow "c" (known: a, b; did you mean "a"?)',
    ]);
    expect(problems({ schedules: [{ ...nightly, workflow: 7 }] })).toEqual([
      "schedules.nightly.workflow: must be a workflow or its id, but is 7",
    ]);
    expect(problems({ automations: [automation({ workflow: "a", when: newer("zebra") })] })[0]).toContain(
      'automations.a.when: there is no workflow "zebra"',
    );
  });

  test("have cron expressions that can be read and come", () => {
    const cron = (text: unknown) => problems({ schedules: [{ ...nightly, cron: text }] });
    expect(cron("0 25 * * *")).toEqual([
      'schedules.nightly.cron: "0 25 * * *" has "25" in its hour, which must be 0 to 23',
    ]);
    expect(cron("0 0 31 feb *")).toEqual([
      'schedules.nightly.cron: "0 0 31 feb *" names a day that never comes',
    ]);
    expect(cron(undefined)).toEqual(["schedules.nightly.cron: undefined is not a string"]);
  });

  test("have time zones, policies, durations, tags and functions that exist", () => {
    const wrong = {
      ...nightly,
      timezone: "Mars/Base",
      catchUp: "some",
      overlap: "never",
      paused: 1,
      tags: { n: 1 },
    };
    expect(
      problems({ schedules: [wrong], sensors: [{ id: "s", every: "3", timeout: "0ms", priority: 0.5 }] }),
    ).toEqual([
      'schedules.nightly.timezone: there is no time zone "Mars/Base"',
      'schedules.nightly.catchUp: must be "skip" or "last" or "all", but is "some"',
      'schedules.nightly.overlap: must be "allow" or "skip" or "queue-one", but is "never"',
      "schedules.nightly.tags.n: must be a string, but is 1",
      "schedules.nightly.paused: must be true or false",
      'sensors.s.every: "3" has no unit',
      "sensors.s.timeout: must be longer than 0ms",
      "sensors.s.run: must be a function, but is undefined",
      "sensors.s.priority: must be a whole number, but is 0.5",
    ]);
  });

  test("have a condition on others", () => {
    const when = (condition: unknown) => problems({ automations: [{ workflow: "a", when: condition }] });
    expect(when(undefined)).toEqual(["automations.a.when: must be a condition, but is undefined"]);
    expect(when(succeeded())).toEqual(["automations.a.when: succeeded() names no workflow"]);
    expect(when(newer("a", "b"))).toEqual([
      'automations.a.when: waits for "a" itself, so it would never end, or never begin',
    ]);
  });

  test("have no fields we do not know", () => {
    expect(problems({ schedules: [{ ...nightly, catchup: "all" }] })).toEqual([
      "schedules.nightly.catchup: is not a known field",
    ]);
  });
});

test("what is left out is filled in", () => {
  const found = triggersOf({
    tasks: [],
    schedules: [schedule({ ...nightly })],
    sensors: [sensor({ id: "inbox", every: "30s", run: look })],
    automations: [automation({ workflow: { id: "a" }, when: newer({ id: "b" }) })],
  });
  expect(found.schedules[0]).toMatchObject({
    name: "schedule nightly",
    workflow: "a",
    spec: { cron: "0 3 * * *", timezone: "UTC", catchUp: "last", overlap: "allow" },
    tags: {},
    priority: null,
    paused: false,
  });
  expect(found.sensors[0]).toMatchObject({ workflow: null, spec: { everyMs: 30_000, timeoutMs: 60_000 } });
  expect(found.automations[0]).toMatchObject({
    name: "automation a",
    workflow: "a",
    spec: { when: { kind: "newer", of: ["b"] } },
  });
});
