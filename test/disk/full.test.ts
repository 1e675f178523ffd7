// When the disk of an embedded store is full, running work keeps its lease, nothing new is taken in, and the
// worker resumes by itself.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { connect, defineApp, task } from "../../src/index.ts";
import { deferred } from "../e2e/support/deferred.ts";
import { until } from "../e2e/support/until.ts";

/** A file system of a few megabytes, or undefined if we may not mount one. */
function smallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "sluice-disk-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", folder]).status === 0;
  const end = (): void => {
    if (mounted) spawnSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true, force: true });
  };
  if (mounted) onTestFinished(end);
  else end();
  return mounted ? folder : undefined;
}

function fill(path: string): void {
  try {
    for (;;) writeFileSync(path, Buffer.alloc(4096), { flag: "a" });
  } catch (error) {
    expect((error as { code?: string }).code).toBe("ENOSPC");
  }
}

const canMount = process.platform === "linux" && process.getuid?.() === 0;

describe.skipIf(!canMount)(
  canMount ? "a full disk" : "a full disk (skipped: only root may mount one)",
  () => {
    test("takes nothing away from what runs, and nothing in; then it goes on", async () => {
      const disk = smallDisk();
      if (!disk) return;
      const gate = deferred<string>();
      const aborted: unknown[] = [];
      const slow = task({
        id: "slow",
        queue: "one",
        run: (_: undefined, { signal }) => {
          signal.addEventListener("abort", () => aborted.push(signal.reason));
          return gate.promise;
        },
      });
      const large = task({ id: "large", queue: "one", run: (input: string) => input.length });
      const app = defineApp({
        tasks: [slow, large],
        queues: { one: {} },
        session: { lease: "2s", heartbeat: "300ms" },
      });
      await using sluice = await connect({ store: `file:${join(disk, "sluice.db")}`, app });
      const errors: unknown[] = [];
      const worker = await sluice.worker({
        watch: (event) => {
          if (event.kind === "error") errors.push((event.error as { code?: string }).code);
        },
      });
      const { id } = await sluice.enqueue(slow, undefined);
      await until(() => worker.running === 1, "it runs");
      const { session } = worker;

      fill(join(disk, "junk"));
      const input = "x".repeat(100_000);
      await until(async () => {
        const refused = await sluice.enqueue(large, input).catch((error: unknown) => error);
        return (refused as { code?: string }).code === "STORE_FULL";
      }, "nothing is taken in");
      worker.wake();
      await until(() => errors.includes("STORE_FULL"), "the worker notices");
      // This takes several leases, so the session stays alive only by its renewals.
      const renewed = async (): Promise<number> =>
        (await sluice.store.sessions()).find((one) => one.id === session)?.expiresAt ?? 0;
      const first = await renewed();
      await until(async () => (await renewed()) >= first + 5_000, "it renews on");
      expect([aborted, worker.session]).toEqual([[], session]);
      await expect(sluice.enqueue(large, input)).rejects.toMatchObject({ code: "STORE_FULL" });

      gate.resolve("done");
      rmSync(join(disk, "junk"));
      await until(async () => (await sluice.get(id))?.state === "succeeded", "it is reported");
      expect(await sluice.get(id)).toMatchObject({ attempt: 1, losses: 0, result: "done" });
      const next = await sluice.enqueue(large, "small");
      await until(async () => (await sluice.get(next.id))?.state === "succeeded", "new work runs");
    });
  },
);
