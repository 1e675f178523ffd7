// The user that runs a database server. PostgreSQL and MariaDB refuse to run as root, so root uses another
// account.

import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, lchownSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The account called `name`, created if missing. Undefined means that a server may run as the current user.
 */
export function accountFor(name: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  if (spawnSync("id", [name], { stdio: "ignore" }).status !== 0) {
    const options = ["--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin"];
    execFileSync("useradd", [...options, name]);
  }
  const ask = (flag: string): number => Number(execFileSync("id", [flag, name], { encoding: "utf8" }));
  return { uid: ask("-u"), gid: ask("-g") };
}

/** A new folder that `account` owns and can enter, even if TMPDIR is inside a closed home. */
export function freshFolder(name: string, account: Account | undefined): string {
  const parent = [tmpdir(), "/tmp", "/var/tmp"].find((path) => canRead(path, account));
  if (!parent) throw new Error(`no temporary folder can be entered by the user that runs ${name}`);
  const folder = mkdtempSync(join(parent, `sluice-${name}-`));
  if (account) chownSync(folder, account.uid, account.gid);
  return folder;
}

/** True if `account` can reach `path` and read it. A folder must also be enterable. */
export function canRead(path: string, account: Account | undefined): boolean {
  if (!account) return true;
  const script = 'test -r "$1" && { test ! -d "$1" || test -x "$1"; }';
  return spawnSync("/bin/sh", ["-c", script, "sh", path], { cwd: "/", ...account }).status === 0;
}

/** Gives a folder and its contents to `account`. */
export function giveTo(account: Account | undefined, folder: string): void {
  if (!account) return;
  lchownSync(folder, account.uid, account.gid);
  for (const entry of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    lchownSync(join(folder, entry), account.uid, account.gid);
  }
}
