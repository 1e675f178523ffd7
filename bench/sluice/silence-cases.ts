import type { Case } from "../case.ts";
import { child, places } from "./place.ts";
import type { Silent } from "./silence.ts";

/** Speed with the feed over speed without it, while nobody listens. */
export const silenceCases: readonly Case[] = places("feed").map(({ name, on }) => ({
  name,
  rounds: 1,
  run: (setting) =>
    on(setting, name, async ({ url, said }) => {
      const shape = { slots: 24, tasks: setting.scaled(20_000), singles: setting.scaled(6_000), rounds: 10 };
      const found = await child<Silent>("silence.ts", { url, ...shape }, 900_000);
      const note = "the feed of changes with nobody listening, over the same without the feed";
      const byProcessor = `${note}, by processor time`;
      const draining = { ...said, slots: 24, tasks: shape.tasks, unit: "x" };
      const enqueueing = { ...said, tasks: shape.singles, unit: "x" };
      return [
        { name: `${name}-drain`, ...draining, value: found.drain, note },
        { name: `${name}-drain-cost`, ...draining, value: found.drainByProcessor, note: byProcessor },
        { name: `${name}-enqueue`, ...enqueueing, value: found.enqueue, note },
        { name: `${name}-enqueue-cost`, ...enqueueing, value: found.enqueueByProcessor, note: byProcessor },
      ];
    }),
}));
