/** Arguments and options that several commands share. */
import type { Command } from "commander";

export const withId = (command: Command): Command =>
  command.argument("<id>", "the task's ID, or any unambiguous prefix");

export const withRun = (command: Command): Command =>
  command.argument("<run>", "the run's ID, or any unambiguous prefix");

/** Every change is recorded with the name of the person who made it. */
export const withBy = (command: Command, does: string): Command =>
  command.option("--by <name>", `who ${does} (default: $USER)`);
