// The machine of a run, in words: everything that could explain its figures.

import { execFile } from "node:child_process";
import { open, rm, statfs } from "node:fs/promises";
import { availableParallelism, cpus, loadavg, platform, release, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { now, percentile } from "./measure.ts";
import { version } from "./sluice/built.ts";

/** One fact per line. */
export async function describeMachine(): Promise<string[]> {
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return [
    `${availableParallelism()} CPUs (${cpus()[0]?.model.trim() ?? "unknown"}), ${gigabytes} GB, ${platform()} ${release()}`,
    `Node ${process.versions.node}, Sluice ${version} (${await commit()})`,
    await describeDisk(),
    // If the machine was already busy, that explains otherwise odd figures.
    `load ${load()} before the run`,
  ];
}

export const load = (): string => loadavg()[0]?.toFixed(1) ?? "unknown";

async function commit(): Promise<string> {
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  try {
    return (await promisify(execFile)("git", ["describe", "--always", "--dirty"], { cwd })).stdout.trim();
  } catch {
    return "no repository";
  }
}

const FILE_SYSTEMS: Readonly<Record<number, string>> = {
  61267: "ext4",
  1481003842: "xfs",
  2435016766: "btrfs",
  801189825: "zfs",
  2035054128: "overlay",
};
const MEMORY = [0x01021994, 0x858458f6];

/** Every durable figure depends on how long a synced write takes. */
async function describeDisk(): Promise<string> {
  const folder = tmpdir();
  const { type } = await statfs(folder);
  if (MEMORY.includes(type))
    return `data in MEMORY (${folder}): synced writes cost nothing here. Set TMPDIR to a folder on a disk`;
  const kind = FILE_SYSTEMS[type] ?? `file system 0x${type.toString(16)}`;
  return `data on ${kind} (${folder}), a synced write of 8 kB takes ${(await syncMs(folder)).toFixed(2)} ms`;
}

async function syncMs(folder: string): Promise<number> {
  const path = join(folder, `sluice-bench-sync-${process.pid}`);
  const file = await open(path, "w");
  try {
    const times: number[] = [];
    for (let n = 0; n < 100; n += 1) {
      const began = now();
      await file.write(Buffer.alloc(8_192, n), 0, 8_192, (n % 10) * 8_192);
      await file.datasync();
      times.push(now() - began);
    }
    return percentile(times, 0.5);
  } finally {
    await file.close();
    await rm(path);
  }
}
