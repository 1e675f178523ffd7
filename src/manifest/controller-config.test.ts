import { describe, expect, it } from "vitest";
import { controllerConfigIn } from "./controller-config.ts";

const manifest = (data: string): string => `
apiVersion: v1
kind: ConfigMap
metadata:
  name: workflow-controller-configmap
data:
${data}`;

describe("workflow-controller-configmap", () => {
  it("fills the parallelism and the sync section of an app", () => {
    const text = manifest(`  parallelism: "20"
  namespaceParallelism: 5
  synchronization: |
    controllerName: berlin
    pollSeconds: 10
    heartbeatSeconds: 30
    inactiveControllerSeconds: 600
    postgresql:
      host: sync
      port: 5433
      database: locks
      limitTableName: argo_limits
`);
    expect(controllerConfigIn(`kind: Secret\n---${text}`)).toEqual({
      parallelism: 20,
      namespaceParallelism: 5,
      sync: {
        url: "postgres://sync:5433/locks",
        controllerName: "berlin",
        pollSeconds: 10,
        heartbeatSeconds: 30,
        inactiveControllerSeconds: 600,
        limitTableName: "argo_limits",
      },
    });
  });

  it("leaves out what the manifest does not say, and takes a URL from elsewhere", () => {
    expect(controllerConfigIn(manifest("  parallelism: 3"))).toEqual({ parallelism: 3 });
    const text = manifest(
      "  synchronization: |\n    controllerName: a\n    mysql: { host: db, database: locks }",
    );
    expect(controllerConfigIn(text).sync?.url).toBe("mysql://db/locks");
    expect(controllerConfigIn(text, "mysql://me:secret@db/locks").sync?.url).toBe(
      "mysql://me:secret@db/locks",
    );
  });

  it.each([
    ["another ConfigMap", "kind: ConfigMap\nmetadata: { name: other }", /no ConfigMap is named/],
    ["a number that is none", manifest("  parallelism: many"), /parallelism must be a whole number/],
    ["a section that is no map", manifest('  synchronization: "[1]"'), /synchronization must be a map/],
    [
      "a database without a host",
      manifest("  synchronization: |\n    postgresql: { port: 1 }"),
      /needs a host/,
    ],
  ])("refuses %s", (_, text, message) => {
    expect(() => controllerConfigIn(text)).toThrow(message);
  });
});
