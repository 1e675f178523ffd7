/** The six requests that we make to Kubernetes, all about the pods of one namespace. */
import type { Connection } from "./connection.ts";
import { MOST_LINES } from "./log-tail.ts";
import type { Pod } from "./pod.ts";
import { CONTAINER } from "./pod.ts";
import type { Call } from "./request.ts";
import { ApiAway, ApiRefused, ask, chunksOf } from "./request.ts";

const SILENCE_MS = 30_000;
/** The server ends a watch after this time, so that a connection which died unnoticed is detected. */
const WATCH_SECONDS = 60;
const WATCH_SILENCE_MS = (WATCH_SECONDS + 15) * 1_000;
const PAGE = 500;

interface PodList {
  readonly pods: readonly Pod[];
  /** A watch that starts at this version misses nothing. */
  readonly version: string;
}

interface PodChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  readonly pod: Pod;
}

export class PodApi {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  create(namespace: string, pod: Pod, signal?: AbortSignal): Promise<Pod> {
    return this.#pod({ method: "POST", path: pods(namespace), body: pod, signal });
  }

  /** Returns undefined if there is no such pod. */
  async get(namespace: string, name: string, signal?: AbortSignal): Promise<Pod | undefined> {
    return absentAs(undefined, this.#pod({ method: "GET", path: pods(namespace, name), signal }));
  }

  async list(namespace: string, labelSelector: string, signal?: AbortSignal): Promise<PodList> {
    const found: Pod[] = [];
    for (let next = ""; ; ) {
      const query = { labelSelector, limit: String(PAGE), ...(next ? { continue: next } : {}) };
      const text = await ask(this.#connection, {
        ...quick,
        method: "GET",
        path: pods(namespace),
        query,
        signal,
      });
      const page = parse<{ items?: Pod[]; metadata?: { resourceVersion?: string; continue?: string } }>(text);
      found.push(...(page.items ?? []));
      next = page.metadata?.continue ?? "";
      if (next === "") return { pods: found, version: page.metadata?.resourceVersion ?? "" };
    }
  }

  /** Ends when the server ends it. Refused with 410 if `version` is too old to continue from. */
  async *watch(
    namespace: string,
    labelSelector: string,
    version: string,
    signal: AbortSignal,
  ): AsyncGenerator<PodChange> {
    const query = {
      watch: "true",
      labelSelector,
      resourceVersion: version,
      allowWatchBookmarks: "true",
      timeoutSeconds: String(WATCH_SECONDS),
    };
    const call: Call = { method: "GET", path: pods(namespace), query, signal, silenceMs: WATCH_SILENCE_MS };
    for await (const line of linesOf(chunksOf(this.#connection, call))) {
      const { type, object } = parse<{ type: string; object: Pod & { code?: number; message?: string } }>(
        line,
      );
      if (type === "ERROR") throw brokenOff(object.code ?? 500, object.message ?? "the watch failed");
      yield { type: type as PodChange["type"], pod: object };
    }
  }

  /** The last lines that its container printed. */
  log(namespace: string, name: string, signal?: AbortSignal): AsyncGenerator<string> {
    const query = { container: CONTAINER, tailLines: String(MOST_LINES) };
    return chunksOf(this.#connection, {
      ...quick,
      method: "GET",
      path: pods(namespace, name, "log"),
      query,
      signal,
    });
  }

  /** Succeeds even if the pod was already gone. */
  async delete(namespace: string, name: string, graceSeconds: number): Promise<void> {
    const body = { gracePeriodSeconds: graceSeconds, propagationPolicy: "Background" };
    const path = pods(namespace, name);
    await absentAs("", ask(this.#connection, { ...quick, method: "DELETE", path, body }));
  }

  async #pod(call: Omit<Call, "silenceMs">): Promise<Pod> {
    return parse<Pod>(await ask(this.#connection, { ...quick, ...call }));
  }
}

const quick = { silenceMs: SILENCE_MS } as const;

function pods(namespace: string, ...rest: string[]): string {
  return ["/api/v1/namespaces", namespace, "pods", ...rest]
    .map((part, at) => (at === 0 ? part : encodeURIComponent(part)))
    .join("/");
}

async function absentAs<T>(nothing: T, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiRefused && error.status === 404) return nothing;
    throw error;
  }
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let open = "";
  for await (const chunk of chunks) {
    const lines = (open + chunk).split("\n");
    open = lines.pop() ?? "";
    for (const line of lines) if (line.trim()) yield line;
  }
}

/** A text that is not JSON comes from something between us and the API, so it is not an answer. */
function parse<T>(text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new ApiAway(`it was not understood (${text.slice(0, 80)})`, cause);
  }
}

const brokenOff = (code: number, message: string): ApiAway | ApiRefused =>
  code === 410 ? new ApiRefused(code, message) : new ApiAway(`${code} ${message}`);
