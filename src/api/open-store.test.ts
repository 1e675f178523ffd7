import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { masked, openStore } from "./open-store.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-open-"));

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe("a store is opened by its URL", () => {
  test("in memory", async () => {
    const store = await openStore("memory:");
    expect(store.kind).toBe("memory");
    await store.close();
  });

  test("in a file, by path or as a file URL, with the folders it needs and its schema", async () => {
    for (const url of [
      `file:${join(folder, "a/b/c.db")}`,
      pathToFileURL(join(folder, "with space/d.db")).href,
    ]) {
      const store = await openStore(url);
      expect(store.kind).toBe("sqlite");
      await store.verify();
      await store.close();
    }
  });
});

describe("what is not a store", () => {
  test.each(["", "nonsense", "memoryx", "files", "http://host/db", "sluice.db", "./file:x"])(
    '"%s" is refused, and the answer says what to write',
    async (url) => {
      await expect(openStore(url)).rejects.toMatchObject({
        code: "BAD_STORE_URL",
        message: expect.stringContaining("file:path/to/sluice.db"),
      });
    },
  );

  test("is named without its password", async () => {
    const refused = openStore("redis://ann:secret@host/0");
    await expect(refused).rejects.toThrow('"redis://ann:***@host/0" is not a store');
  });
});

describe("a store that cannot be reached", () => {
  test("is named without its password, with the cause", async () => {
    const failing = openStore("postgres://ann:secret@127.0.0.1:1/db");
    await expect(failing).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.stringContaining("postgres://ann:***@127.0.0.1:1/db"),
      cause: expect.anything(),
    });
    await expect(failing).rejects.not.toThrow("secret");
  });

  test("may be a file where none can be", async () => {
    writeFileSync(join(folder, "plain"), "");
    await expect(openStore(`file:${join(folder, "plain/x.db")}`)).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
    });
  });
});

describe("a URL as it may be shown", () => {
  test.each([
    ["postgres://ann:secret@host:5432/db", "postgres://ann:***@host:5432/db"],
    ["mysql://:secret@host/db", "mysql://:***@host/db"],
    ["postgres://ann:s%40cret@host/db", "postgres://ann:***@host/db"],
    ["postgres://ann:se@cret@host/db", "postgres://ann:***@host/db"],
    ["postgres://ann:se/cret@host/db", "postgres://ann:***@host/db"],
    ["postgres://ann:se#cret?@host/db", "postgres://ann:***@host/db"],
    ["postgres://ann:se:cret@host/db", "postgres://ann:***@host/db"],
    ["postgres://host/db?user=ann&password=secret&x=1", "postgres://host/db?user=ann&password=***&x=1"],
  ])("%s has no password any more", (url, shown) => {
    expect(masked(url)).toBe(shown);
  });

  test.each([
    "postgres://ann@host/db",
    "postgres://host:5432/db",
    "postgres://host:5432/db?options=a@b",
    "mysql://host/db",
    "file:.sluice/storage/sluice.db",
    "file:/home/ann@work/a:b.db",
    "memory:",
  ])("%s is shown as it is", (url) => {
    expect(masked(url)).toBe(url);
  });
});
