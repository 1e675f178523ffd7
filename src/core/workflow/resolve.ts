/**
 * Turns a workflow of a checked app into the graphs of a run, with every choice made and every default filled
 * in.
 */
import type { App } from "../app/app.ts";
import type { AnyWorkflow } from "./definition.ts";
import type { Graph, Graphs } from "./graph.ts";
import type { Submitter } from "./nest.ts";
import { Nest } from "./nest.ts";

/** Tasks and workflows are looked up by ID, so the app's own version of each counts. */
export const graphsOf = (workflow: AnyWorkflow, app: App, machine: Submitter): Graphs =>
  new Nest(app, machine).graphsOf(workflow);

/** The graph of the run itself. */
export const graphOf = (workflow: AnyWorkflow, app: App, machine: Submitter): Graph =>
  graphsOf(workflow, app, machine).root;

/** How many CPU-bound steps of a run of this app may work at once. By default one per CPU. */
export function mostWorkers(app: App, { cpus }: Submitter): number {
  const gates = [...app.workflows.values()].flatMap((workflow) => {
    const { root, nested } = graphsOf(workflow, app, { cpus });
    return [root, ...nested].flatMap((graph) => graph.gates);
  });
  return Math.max(cpus, ...gates.flatMap(({ name, limit }) => (name === "workers" ? [limit] : [])));
}
