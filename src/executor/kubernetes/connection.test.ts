import type { RequestOptions } from "node:https";
import { describe, expect, test } from "vitest";
import type { ClientLibrary } from "./connection.ts";
import { connectCluster } from "./connection.ts";

describe("a connection", () => {
  test("without the client library says what to install", async () => {
    const absent = Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    const connecting = connectCluster({}, () => Promise.reject(absent));
    await expect(connecting).rejects.toMatchObject({
      code: "NO_KUBERNETES_CLIENT",
      message: expect.stringMatching(/it is not installed\. Run: npm install @kubernetes\/client-node@1$/),
    });
  });

  test("with a library that does not load here says why", async () => {
    const connecting = connectCluster({}, () => Promise.reject(new TypeError("createZstdDecompress")));
    await expect(connecting).rejects.toThrow("it cannot be loaded: createZstdDecompress");
  });

  test("with a kubeconfig that is not there says which", async () => {
    await expect(connectCluster({ kubeconfig: "/nowhere/config" })).rejects.toMatchObject({
      code: "NO_CLUSTER",
      message: expect.stringContaining("/nowhere/config"),
    });
  });

  test("asks for its credentials each time: they change while we run", async () => {
    let asked = 0;
    class KubeConfig {
      loadFromFile(): void {}
      loadFromDefault(): void {}
      setCurrentContext(): void {}
      getCurrentCluster() {
        return { server: "https://cluster.example/base/" };
      }
      async applyToHTTPSOptions(options: RequestOptions): Promise<void> {
        asked += 1;
        options.headers = { authorization: `Bearer ${asked}` };
      }
    }
    const library: ClientLibrary = { KubeConfig };
    const connection = await connectCluster({ context: "c" }, async () => library);
    expect(connection.server).toBe("https://cluster.example/base");
    expect(await connection.authorise()).toEqual({ headers: { authorization: "Bearer 2" } });
    expect(await connection.authorise()).toEqual({ headers: { authorization: "Bearer 3" } });
  });
});
