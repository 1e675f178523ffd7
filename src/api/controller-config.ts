/** Fields of an app from the manifest of a workflow controller. */
import { readFileSync } from "node:fs";
import type { ControllerConfig } from "../manifest/controller-config.ts";
import { controllerConfigIn } from "../manifest/controller-config.ts";

/**
 * Reads the ConfigMap `workflow-controller-configmap` from a file. `url` is the sync database with its user and
 * password, which the manifest keeps in secrets: `defineApp({ ...controllerConfigMap(file, { url }), tasks })`.
 */
export function controllerConfigMap(
  file: string | URL,
  { url }: { readonly url?: string } = {},
): ControllerConfig {
  return controllerConfigIn(readFileSync(file, "utf8"), url);
}
