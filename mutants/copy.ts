/** A copy of the tree in its own folder. The sources themselves are never touched. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Listed } from "./list.ts";
import { plant } from "./plant.ts";

export const root = fileURLToPath(new URL("..", import.meta.url));

const LEFT_OUT = /^(node_modules|dist|dist-next-.*|coverage|\.git|\.sluice)$/;

export class Copy {
  readonly folder: string;

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "sluice-mutant-"));
    cpSync(root, this.folder, {
      recursive: true,
      filter: (path) =>
        !relative(root, path)
          .split(sep)
          .some((part) => LEFT_OUT.test(part)),
    });
    symlinkSync(join(root, "node_modules"), join(this.folder, "node_modules"), "dir");
  }

  /** Runs `work` while the defect is in the copy. */
  async with<T>(defect: Listed, work: () => Promise<T>): Promise<T> {
    const path = join(this.folder, defect.file);
    const sound = readFileSync(path, "utf8");
    writeFileSync(path, plant(defect, sound));
    try {
      return await work();
    } finally {
      writeFileSync(path, sound);
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
