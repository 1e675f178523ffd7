/**
 * Where the cluster is and who we are there. Both are known to Kubernetes' own client library: kubeconfig files,
 * the account of the pod we run in, credential plugins, proxies. It is loaded when it is first needed, and only here;
 * the few calls we make are our own (request.ts), because their time limits and their end must be ours.
 */
import type { RequestOptions } from "node:https";
import { SluiceError } from "../../core/error.ts";

export interface Connection {
  /** Its address, perhaps with a path. */
  readonly server: string;
  /** Certificates, headers and agent of one request. Asked each time: tokens are replaced while we run. */
  authorise(): Promise<RequestOptions>;
}

export interface ConnectionOptions {
  /** A kubeconfig file; unless given, what kubectl would use, and inside a pod its own account. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** The part of the library that is used. */
export interface ClientLibrary {
  readonly KubeConfig: new () => {
    loadFromFile(file: string): void;
    loadFromDefault(): void;
    setCurrentContext(context: string): void;
    getCurrentCluster(): { readonly server: string } | null;
    applyToHTTPSOptions(options: RequestOptions): Promise<void>;
  };
}

const PACKAGE = "@kubernetes/client-node";

/** By a name that is no literal: its types are large, and of another Node than ours. */
const load = (): Promise<ClientLibrary> => import(PACKAGE as string) as Promise<ClientLibrary>;

export async function connectCluster(
  { kubeconfig, context }: ConnectionOptions,
  library: () => Promise<ClientLibrary> = load,
): Promise<Connection> {
  const { KubeConfig } = await library().catch((cause) => {
    throw missing(cause);
  });
  try {
    const config = new KubeConfig();
    if (kubeconfig === undefined) config.loadFromDefault();
    else config.loadFromFile(kubeconfig);
    if (context !== undefined) config.setCurrentContext(context);
    const cluster = config.getCurrentCluster();
    if (!cluster) throw new Error(`it has no cluster${context === undefined ? "" : ` for "${context}"`}`);
    const authorise = async (): Promise<RequestOptions> => {
      const options: RequestOptions = {};
      await config.applyToHTTPSOptions(options);
      return options;
    };
    // What cannot work at all is said now and not once per attempt.
    await authorise();
    return { server: cluster.server.replace(/\/+$/, ""), authorise };
  } catch (cause) {
    throw unusable(kubeconfig, cause);
  }
}

function missing(cause: unknown): SluiceError {
  const absent = (cause as { code?: unknown } | null)?.code === "ERR_MODULE_NOT_FOUND";
  const why = absent ? "it is not installed" : `it cannot be loaded: ${(cause as Error)?.message}`;
  return new SluiceError(
    "NO_KUBERNETES_CLIENT",
    `Steps in pods need the package ${PACKAGE}, but ${why}. Run: npm install ${PACKAGE}@1`,
    { cause },
  );
}

function unusable(kubeconfig: string | undefined, cause: unknown): SluiceError {
  const where = kubeconfig ?? "the kubeconfig that was found";
  return new SluiceError(
    "NO_CLUSTER",
    `No cluster can be reached with ${where}: ${(cause as Error)?.message}. Try: kubectl get pods`,
    { cause },
  );
}
