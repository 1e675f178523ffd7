/** The file system of a file, as far as the system tells. SQLite's locks cannot be trusted on a network. */
import { statfsSync } from "node:fs";

/** The numbers that Linux gives these file systems. */
const NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, "nfs"],
  [0x517b, "smb"],
  [0xfe534d42, "smb2"],
  [0xff534d42, "cifs"],
  [0x01021997, "9p"],
  [0x5346414f, "afs"],
  [0x00c36400, "ceph"],
  [0x0bd00bd0, "lustre"],
  [0x47504653, "gpfs"],
]);

/** The network file system that a path is on; undefined if it is local or unknown. */
export function networkOf(
  path: string,
  statfs: (path: string) => { type: number } = statfsSync,
): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    // Some of these numbers are negative on systems that use 32-bit numbers.
    return NETWORK.get(statfs(path).type >>> 0);
  } catch {
    return undefined;
  }
}
