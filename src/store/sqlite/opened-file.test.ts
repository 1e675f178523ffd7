import { mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { clock } from "../query/read.ts";
import { SqliteDatabase } from "./database.ts";
import { hostTime } from "./index.ts";
import { OpenedFile } from "./opened-file.ts";

function newFile(name = "a.db"): string {
  const folder = mkdtempSync(join(tmpdir(), "sluice-file-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  writeFileSync(path, "one");
  return path;
}

const GONE = { code: "STORE_GONE" };
const thrown = (act: () => void): unknown => {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
};

describe("the file that was opened", () => {
  test("is there as long as it is the same, whatever is written to it", () => {
    const path = newFile();
    const file = new OpenedFile(path);
    writeFileSync(path, "two");
    expect([file.isGone, thrown(() => file.check())]).toEqual([false, undefined]);
  });

  test("is gone when it was deleted, and its path is named", () => {
    const path = newFile();
    const file = new OpenedFile(path);
    rmSync(path);
    expect(thrown(() => file.check())).toMatchObject({ ...GONE, message: expect.stringContaining(path) });
  });

  test("is gone when another stands in its place", () => {
    const path = newFile();
    const file = new OpenedFile(path);
    writeFileSync(`${path}.new`, "one");
    renameSync(`${path}.new`, path);
    expect(thrown(() => file.check())).toMatchObject(GONE);
  });

  test("is gone when a link leads to another", () => {
    const path = newFile();
    const link = `${path}.link`;
    symlinkSync(path, link);
    const file = new OpenedFile(link);
    expect(file.isGone).toBe(false);
    rmSync(link);
    symlinkSync(newFile(), link);
    expect(file.isGone).toBe(true);
  });

  test("is gone when it was emptied, and stays gone when it is written again", () => {
    const path = newFile();
    const file = new OpenedFile(path);
    truncateSync(path);
    expect(thrown(() => file.check())).toMatchObject(GONE);
    writeFileSync(path, "one");
    expect(file.isGone).toBe(true);
  });

  test("may be empty until it is first written", () => {
    const path = newFile();
    truncateSync(path);
    const file = new OpenedFile(path);
    expect(file.isGone).toBe(false);
    writeFileSync(path, "one");
    expect(file.isGone).toBe(false);
    truncateSync(path);
    expect(file.isGone).toBe(true);
  });

  test("stays gone when it comes back: others may have had it meanwhile", () => {
    const path = newFile();
    const file = new OpenedFile(path);
    renameSync(path, `${path}.away`);
    expect(file.isGone).toBe(true);
    renameSync(`${path}.away`, path);
    expect(file.isGone).toBe(true);
  });

  test("cannot go away where there is none", () => {
    expect(new OpenedFile(":memory:").isGone).toBe(false);
  });
});

test("what is committed to a file that went away meanwhile is not acknowledged", async () => {
  const path = newFile("b.db");
  rmSync(path);
  const db = new SqliteDatabase(path, hostTime());
  onTestFinished(() => db.close());
  await db.migrate();
  const deleting = function* () {
    rmSync(path);
    return yield* clock();
  };
  await expect(db.transact(deleting)).rejects.toMatchObject(GONE);
  await expect(db.read(() => clock())).rejects.toMatchObject(GONE);
  await expect(db.vital(() => clock())).rejects.toMatchObject(GONE);
});

test("whoever listens at a file that is emptied is told, and every verb says that it is gone", async () => {
  const path = newFile("c.db");
  rmSync(path);
  const db = new SqliteDatabase(path, hostTime());
  onTestFinished(() => db.close());
  await db.migrate();
  await db.transact(() => clock());
  const isTold = new Promise<void>((resolve) => void db.listen(() => resolve()));
  truncateSync(path);
  await isTold;
  await expect(db.transact(() => clock())).rejects.toMatchObject(GONE);
  await expect(db.read(() => clock())).rejects.toMatchObject(GONE);
  await expect(db.vital(() => clock())).rejects.toMatchObject(GONE);
});
