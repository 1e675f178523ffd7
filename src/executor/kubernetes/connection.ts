/**
 * The address of the cluster and our credentials. Kubernetes' own client library finds both: kubeconfig
 * files, the account of the pod we run in, credential plugins, proxies. It is loaded on first use, and only
 * here. We make the few API calls ourselves (request.ts), because we must control their timeouts and their
 * end.
 */
import type { RequestOptions } from "node:https";
import { SluiceError } from "../../core/error.ts";

export interface Connection {
  /** The address of the API server, possibly with a path. */
  readonly server: string;
  /**
   * Returns certificates, headers and agent for one request. Called for each request, because tokens are
   * replaced while we run.
   */
  authorise(): Promise<RequestOptions>;
}

export interface ConnectionOptions {
  /** A kubeconfig file. Default: the one kubectl would use, or inside a pod the pod's own account. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** The part of the library that we use. */
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

/**
 * The name is not a literal, so that TypeScript does not load the library's types: they are large and for
 * another Node version.
 */
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
    // Report a broken configuration now, not once per attempt.
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
