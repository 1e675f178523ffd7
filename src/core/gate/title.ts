/** The titles of gates in sentences. A kind's row in kind.ts says which of these it uses. */
import { DEFAULT_NAMESPACE } from "./key.ts";

/** `queue "stripe"` */
export const called =
  (kind: string) =>
  (name: string): string =>
    `${kind} "${name}"`;

/** `mutex "books"`, and for a lock of another namespace than the default: `mutex "books" of namespace "global"` */
export const inNamespace =
  (kind: string) =>
  (name: string): string => {
    const [namespace = "", ...rest] = name.split("/");
    if (rest.length === 0) return called(kind)(name);
    const suffix = namespace === DEFAULT_NAMESPACE ? "" : ` of namespace "${namespace}"`;
    return `${called(kind)(rest.join("/"))}${suffix}`;
  };

/** For a kind with a single gate, which has a title of its own. */
export const only =
  (kind: string, title: string) =>
  (name: string): string =>
    name === "" ? title : called(kind)(name);

/** A gate of one run: `ID` is its pause, `ID/NAME` a gate of its steps. */
export function ofRun(name: string): string {
  const slash = name.indexOf("/");
  return slash < 0 ? `the pause of run ${name}` : ownTitle(name.slice(slash + 1));
}

/** The limits of executors and of parallelism, under the names that people write. */
const OWN: Readonly<Record<string, string>> = {
  workers: "its run's maxWorkers",
  async: "its run's maxAsyncConcurrent",
  pods: "its run's maxConcurrentSteps",
  "in-process": "its run's in-process executor",
  leaves: "the parallelism of its workflow",
  children: "the parallelism of its group",
};

function ownTitle(name: string): string {
  const [kind, step] = [name.slice(0, name.indexOf("/")), name.slice(name.indexOf("/") + 1)];
  if (kind === "items") return `the window of step "${step}"`;
  return OWN[name] ?? `its run's own limit "${name}"`;
}
