/**
 * Statements as they travel to MySQL: many in one packet, and never more than the server takes in one
 * (`max_allowed_packet`). It answers a larger one by closing the connection, which would look like a store that is away. So
 * it is not sent: the statement that is too large by itself is an error about its data.
 */
import type { PoolConnection, RowDataPacket } from "mysql2/promise";

/** The command in front of the text, and some room. */
const AROUND_BYTES = 64;
const SEPARATOR = ";\n";

/** Texts in packets, in their order. */
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

/** As the server itself calls it. */
const tooLarge = (bytes: number, most: number): Error =>
  Object.assign(
    new Error(
      `A statement of ${inMegabytes(bytes)} does not fit into max_allowed_packet, which is ${inMegabytes(most)} on this server`,
    ),
    { code: "ER_NET_PACKET_TOO_LARGE" },
  );

const inMegabytes = (bytes: number): string => `${(bytes / (1024 * 1024)).toFixed(1)} MB`;

/** Does not change while a connection lasts, so it is asked once. */
const known = new WeakMap<object, number>();

export async function packetBytesOf(connection: PoolConnection): Promise<number> {
  const found = known.get(connection.connection);
  if (found !== undefined) return found;
  const [rows] = await connection.query<RowDataPacket[]>("SELECT @@max_allowed_packet AS bytes");
  const bytes = Number(rows[0]?.bytes);
  known.set(connection.connection, bytes);
  return bytes;
}
