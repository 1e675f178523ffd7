// A Kubernetes API server for tests: real HTTP, real watch streams in chunks, and the parts of the pod API
// that the executor uses. It can go down and come back on the same port, lose answers, and refuse requests.

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Pod } from "../../src/executor/kubernetes/pod.ts";
import type { ClusterPod } from "./kube-cluster.ts";
import { KubeCluster } from "./kube-cluster.ts";

export interface Asked {
  readonly verb: "create" | "get" | "list" | "watch" | "log" | "delete";
  readonly name: string | undefined;
  readonly query: URLSearchParams;
  readonly body: unknown;
  readonly headers: IncomingMessage["headers"];
}

/**
 * `before`: as if the request had never arrived. `after`: done, but the answer is lost. An object refuses
 * with that status.
 */
export type Fault = "before" | "after" | { readonly status: number; readonly reason: string };

export class KubeApi {
  readonly cluster = new KubeCluster();
  readonly asked: Asked[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #watches = new Set<ServerResponse>();
  readonly #waiting = new Set<() => void>();
  readonly #faults = new Map<Asked["verb"], Fault[]>();
  #server: Server | undefined;
  #port = 0;

  static async open(): Promise<KubeApi> {
    const api = new KubeApi();
    api.cluster.onChange(() => api.#look());
    await api.up();
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get watching(): number {
    return this.#watches.size;
  }

  async up(): Promise<void> {
    const server = createServer((request, response) => void this.#serve(request, response));
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.#port, "127.0.0.1", resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Cuts every connection and stops answering. */
  async down(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server?.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** The next requests with this verb meet these faults. */
  disturb(verb: Asked["verb"], ...faults: Fault[]): void {
    this.#faults.set(verb, [...(this.#faults.get(verb) ?? []), ...faults]);
  }

  /** Makes watches that would start before now too old, and ends the open ones. */
  forgetHistory(): void {
    this.cluster.version += 1;
    this.cluster.oldest = this.cluster.version;
    this.endWatches();
  }

  endWatches(): void {
    for (const response of this.#watches) response.end();
  }

  bookmark(): void {
    const object = { kind: "Pod", metadata: { resourceVersion: String(this.cluster.version) } };
    for (const response of this.#watches) response.write(`${JSON.stringify({ type: "BOOKMARK", object })}\n`);
  }

  count(verb: Asked["verb"]): number {
    return this.asked.filter((asked) => asked.verb === verb).length;
  }

  /** Resolves with the first value that `look` finds. It looks after every request and every change. */
  until<T>(look: () => T | undefined | false): Promise<T> {
    return new Promise((resolve) => {
      const attempt = (): void => {
        const found = look();
        if (found === undefined || found === false) return;
        this.#waiting.delete(attempt);
        resolve(found);
      };
      this.#waiting.add(attempt);
      attempt();
    });
  }

  pod(at = 0): Promise<ClusterPod> {
    return this.until(() => this.cluster.created[at]);
  }

  #look(): void {
    for (const look of [...this.#waiting]) look();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += chunk;
    const url = new URL(request.url ?? "/", this.url);
    const [, , , , namespace = "", , name, part] = url.pathname.split("/").map(decodeURIComponent);
    const verb = verbOf(request.method, name, part, url);
    const body: unknown = text ? JSON.parse(text) : undefined;
    this.asked.push({ verb, name, query: url.searchParams, body, headers: request.headers });
    const fault = this.#faults.get(verb)?.shift();
    if (fault === "before") request.socket.destroy();
    else if (typeof fault === "object") answer(response, fault.status, statusOf(fault.status, fault.reason));
    else this.#act({ verb, namespace, name, query: url.searchParams, body }, response, fault === "after");
    this.#look();
  }

  #act(act: Act, response: ServerResponse, isLost: boolean): void {
    if (act.verb === "watch") {
      this.#watch(act, response);
      return;
    }
    const [status, body] = this.#answerTo(act);
    if (isLost) response.socket?.destroy();
    else answer(response, status, body);
  }

  #answerTo({ verb, namespace, name = "", query, body }: Act): [number, object | string] {
    const { cluster } = this;
    if (verb === "create") {
      const made = cluster.create(namespace, body as Pod);
      return made ? [201, made] : [409, statusOf(409, "AlreadyExists")];
    }
    if (verb === "list") {
      const items = cluster.pods.filter((pod) => matches(pod, namespace, query));
      return [200, { kind: "PodList", items, metadata: { resourceVersion: String(cluster.version) } }];
    }
    const pod = cluster.get(namespace, name);
    if (!pod) return [404, statusOf(404, "NotFound")];
    if (verb === "log") {
      const log = cluster.logOf(namespace, name);
      return log === undefined ? [400, statusOf(400, "BadRequest")] : [200, lastLines(log, query)];
    }
    if (verb === "get") return [200, pod];
    const { gracePeriodSeconds = 30 } = (body ?? {}) as { gracePeriodSeconds?: number };
    return [200, cluster.delete(namespace, name, gracePeriodSeconds) ?? {}];
  }

  #watch({ namespace, query }: Act, response: ServerResponse): void {
    const { cluster } = this;
    let at = Number(query.get("resourceVersion"));
    response.writeHead(200, { "content-type": "application/json" });
    if (at < cluster.oldest) {
      response.end(`${JSON.stringify({ type: "ERROR", object: statusOf(410, "Expired") })}\n`);
      return;
    }
    const send = (): void => {
      if (response.writableEnded) return;
      for (const { type, version, pod } of cluster.history) {
        if (version <= at) continue;
        at = version;
        // In two pieces: a line may be split anywhere on its way.
        const line = `${JSON.stringify({ type, object: pod })}\n`;
        if (!matches(pod, namespace, query)) continue;
        response.write(line.slice(0, 20));
        response.write(line.slice(20));
      }
    };
    const stop = cluster.onChange(send);
    response.flushHeaders();
    this.#watches.add(response);
    response.on("close", () => {
      stop();
      this.#watches.delete(response);
      this.#look();
    });
    send();
  }
}

interface Act {
  readonly verb: Asked["verb"];
  readonly namespace: string;
  readonly name: string | undefined;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

function verbOf(
  method: string | undefined,
  name: string | undefined,
  part: string | undefined,
  url: URL,
): Asked["verb"] {
  if (method === "POST") return "create";
  if (method === "DELETE") return "delete";
  if (part === "log") return "log";
  if (name !== undefined) return "get";
  return url.searchParams.get("watch") === "true" ? "watch" : "list";
}

function matches({ metadata }: ClusterPod, namespace: string, query: URLSearchParams): boolean {
  const wanted = (query.get("labelSelector") ?? "").split(",").filter(Boolean);
  return (
    metadata.namespace === namespace &&
    wanted.every((term) => metadata.labels?.[term.split("=")[0] ?? ""] === term.split("=")[1])
  );
}

function lastLines(log: string, query: URLSearchParams): string {
  const most = Number(query.get("tailLines") ?? Number.POSITIVE_INFINITY);
  const lines = log.split("\n");
  const end = lines.at(-1) === "" ? 1 : 0;
  return lines.slice(Math.max(0, lines.length - most - end)).join("\n");
}

const statusOf = (code: number, reason: string): object => ({
  kind: "Status",
  status: "Failure",
  code,
  reason,
  message: `the test server says ${reason}`,
});

function answer(response: ServerResponse, status: number, body: object | string): void {
  const isText = typeof body === "string";
  response.writeHead(status, { "content-type": isText ? "text/plain" : "application/json" });
  response.end(isText ? body : JSON.stringify(body));
}
