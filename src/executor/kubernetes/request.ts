/**
 * One request to the API server. It ends in one of three ways: an answer, a refusal (`ApiRefused`: a retry
 * would be refused again), or nothing reliable (`ApiAway`: the server may have done it or not, so retry).
 */

import type { IncomingMessage } from "node:http";
import { request as plain } from "node:http";
import type { RequestOptions } from "node:https";
import { request as secure } from "node:https";
import { SluiceError } from "../../core/error.ts";
import type { Connection } from "./connection.ts";

export interface Call {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** How long the connection may be silent. */
  readonly silenceMs: number;
}

export class ApiAway extends SluiceError {
  constructor(why: string, cause?: unknown) {
    super("KUBERNETES_AWAY", `The Kubernetes API did not answer: ${why}.`, { cause });
  }
}

export class ApiRefused extends SluiceError {
  readonly status: number;
  /** Kubernetes' own reason, if it gives one: AlreadyExists, Forbidden, Invalid. */
  readonly reason: string | undefined;

  constructor(status: number, message: string, reason?: string) {
    super("KUBERNETES_REFUSED", `The Kubernetes API refused (${status}): ${message}`, {
      details: { status },
    });
    this.status = status;
    this.reason = reason;
  }
}

/** Returns the whole answer as text. */
export async function ask(connection: Connection, call: Call): Promise<string> {
  let text = "";
  for await (const chunk of chunksOf(connection, call)) text += chunk;
  return text;
}

/** Yields the answer as it arrives. */
export async function* chunksOf(connection: Connection, call: Call): AsyncGenerator<string> {
  try {
    const response = await send(connection, call);
    response.setEncoding("utf8");
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299) throw unanswered(status, await textOf(response));
    for await (const chunk of response) yield chunk as string;
  } catch (cause) {
    if (cause instanceof ApiAway || cause instanceof ApiRefused) throw cause;
    throw new ApiAway(cause instanceof Error ? cause.message || String(cause) : String(cause), cause);
  }
}

async function send(connection: Connection, call: Call): Promise<IncomingMessage> {
  const { method, path, query, body, signal, silenceMs } = call;
  const options = await connection.authorise();
  const url = new URL(connection.server + path);
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
  const json = body === undefined ? undefined : JSON.stringify(body);
  const all: RequestOptions = {
    ...options,
    method,
    timeout: silenceMs,
    headers: { ...options.headers, accept: "application/json", ...describing(json) },
    ...(signal ? { signal } : {}),
  };
  return new Promise((resolve, reject) => {
    const sent = (url.protocol === "https:" ? secure : plain)(url, all, resolve);
    sent.on("error", reject);
    sent.on("timeout", () => sent.destroy(new Error(`silence for ${silenceMs}ms`)));
    sent.end(json);
  });
}

/**
 * Includes the length: Node would send a DELETE without it, and the body would be read as the next request.
 */
function describing(json: string | undefined): Record<string, string | number> {
  if (json === undefined) return {};
  return { "content-type": "application/json", "content-length": Buffer.byteLength(json) };
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response) text += chunk as string;
  return text;
}

/** Overload, restarts and expired tokens are temporary. Any other 4xx is an answer. */
function unanswered(status: number, text: string): ApiAway | ApiRefused {
  const { message, reason } = statusOf(text);
  return status >= 500 || status === 429 || status === 401 || status === 408
    ? new ApiAway(`${status} ${message}`)
    : new ApiRefused(status, message, reason);
}

function statusOf(text: string): { message: string; reason?: string } {
  try {
    const { message, reason } = JSON.parse(text) as { message?: unknown; reason?: unknown };
    if (typeof message === "string" && message)
      return { message, ...(typeof reason === "string" ? { reason } : {}) };
  } catch {
    // Something between us and the API has answered in its own format.
  }
  return { message: text.trim().slice(0, 300) || "no reason given" };
}
