import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { connect } from "./connect.ts";

test("a program that names no store uses that of SLUICE_STORE, as the commands do", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-default-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  vi.stubEnv("SLUICE_STORE", `file:${join(folder, "own.db")}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  // What a program passes on may be missing: it must not lead to another store.
  const given = { store: undefined } as unknown as { store: string };
  for (const options of [{}, given]) {
    const sluice = await connect(options);
    expect(sluice.store.kind).toBe("sqlite");
    await sluice.close();
  }
  expect(existsSync(join(folder, "own.db"))).toBe(true);
  expect(existsSync(".sluice/storage/sluice.db")).toBe(false);
  vi.stubEnv("SLUICE_STORE", "nonsense");
  await expect(connect()).rejects.toMatchObject({ code: "BAD_STORE_URL" });
});
