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
      const { drain, enqueue } = await child<Silent>("silence.ts", { url, ...shape }, 900_000);
      const note = "the feed of changes with nobody listening, over the same without the feed";
      return [
        { name: `${name}-drain`, ...said, slots: 24, tasks: shape.tasks, value: drain, unit: "x", note },
        { name: `${name}-enqueue`, ...said, tasks: shape.singles, value: enqueue, unit: "x", note },
      ];
    }),
}));
