/**
 * `defineApp` makes the value that an app's file exports. It checks at once, so a wrong configuration never
 * starts anything.
 */
import type { App } from "../core/app/check.ts";
import { checkApp } from "../core/app/check.ts";
import type { AppDefinition } from "../core/app/definition.ts";

export function defineApp(definition: AppDefinition): App {
  return checkApp(definition);
}
