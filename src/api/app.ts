/** `defineApp`: what a file exports. Checked at once, so that a wrong configuration never starts anything. */
import type { App } from "../core/app/check.ts";
import { checkApp } from "../core/app/check.ts";
import type { AppDefinition } from "../core/app/definition.ts";

export function defineApp(definition: AppDefinition): App {
  return checkApp(definition);
}
