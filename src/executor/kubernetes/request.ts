/**
 * One request to the API server. It ends in one of three ways: an answer, a refusal (`ApiRefused`: asking again would
 * be refused again), or nothing that can be relied on (`ApiAway`: the server may have done it or not, ask again).
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
  /** How long the line may be silent. */
  readonly silenceMs: number;
}

export class ApiAway extends SluiceError {
  constructor(why: string, cause?: unknown) {
    super("KUBERNETES_AWAY", `The Kubernetes API did not answer: ${why}.`, { cause });
  }
}

export class ApiRefused extends SluiceError {
  readonly status: number;
  /** Kubernetes' own word for it, where it has one: AlreadyExists, Forbidden, Invalid. */
  readonly reason: string | undefined;

  constructor(status: number, message: string, reason?: string) {
    super("KUBERNETES_REFUSED", `The Kubernetes API refused (${status}): ${message}`, {
      details: { status },
    });
    this.status = status;
    this.reason = reason;
  }
}

/** The answer's text. */
export async function ask(connection: Connection, call: Call): Promise<string> {
  let text = "";
  for await (const chunk of chunksOf(connection, call)) text += chunk;
  return text;
}

/** The answer as it comes. */
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

/** With its length: a DELETE would be sent without, and its body taken for the next request. */
function describing(json: string | undefined): Record<string, string | number> {
  if (json === undefined) return {};
  return { "content-type": "application/json", "content-length": Buffer.byteLength(json) };
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response) text += chunk as string;
  return text;
}

/** Overload, restarts and worn tokens pass; anything else in the 400s is an answer. */
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
    // Something in between has answered, in words of its own.
  }
  return { message: text.trim().slice(0, 300) || "no reason given" };
}
