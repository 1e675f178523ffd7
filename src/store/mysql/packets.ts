/**
 * Statements as they are sent to MySQL: many in one packet, but never more than the server accepts in one
 * (`max_allowed_packet`). The server answers a larger packet by closing the connection, which would look like
 * an unreachable store. So it is not sent: a single statement that is too large is an error about its data.
 */
import type { PoolConnection, RowDataPacket } from "mysql2/promise";

/** Room for the command before the text, and some spare. */
const AROUND_BYTES = 64;
const SEPARATOR = ";\n";

/** Distributes the texts over packets, in order. */
export function packed(texts: readonly string[], mostBytes: number): string[][] {
  const room = mostBytes - AROUND_BYTES;
  const packets: string[][] = [];
  let bytes = 0;
  for (const text of texts) {
    const more = Buffer.byteLength(text) + SEPARATOR.length;
    if (more > room) throw tooLarge(more, mostBytes);
    const open = bytes + more <= room ? packets.at(-1) : undefined;
    if (open) open.push(text);
    else packets.push([text]);
    bytes = open ? bytes + more : more;
  }
  return packets;
}

export const joined = (packet: readonly string[]): string => packet.join(SEPARATOR);

/** Uses the server's own code for this error. */
const tooLarge = (bytes: number, most: number): Error =>
  Object.assign(
    new Error(
      `A statement of ${sizeOf(bytes)} does not fit into max_allowed_packet, which is ${sizeOf(most)} on this server`,
    ),
    { code: "ER_NET_PACKET_TOO_LARGE" },
  );

const MEGABYTE = 1024 * 1024;
const sizeOf = (bytes: number): string =>
  bytes < MEGABYTE ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / MEGABYTE).toFixed(1)} MB`;

/** The value does not change during a connection, so it is read once. */
const known = new WeakMap<object, number>();

export async function packetBytesOf(connection: PoolConnection): Promise<number> {
  const found = known.get(connection.connection);
  if (found !== undefined) return found;
  const [rows] = await connection.query<RowDataPacket[]>("SELECT @@max_allowed_packet AS bytes");
  const bytes = Number(rows[0]?.bytes);
  known.set(connection.connection, bytes);
  return bytes;
}
