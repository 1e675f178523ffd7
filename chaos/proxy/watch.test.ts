import { describe, expect, test } from "vitest";
import { MysqlWatch } from "./mysql-watch.ts";
import { PostgresWatch } from "./postgres-watch.ts";

const LOCK = "SELECT name FROM sluice_gate WHERE name = ANY($1) ORDER BY name FOR NO KEY UPDATE";
const COMPLETE = "WITH g AS (DELETE FROM sluice_running r RETURNING r.*) SELECT epoch FROM g";

describe("what is overheard on a line to PostgreSQL", () => {
  const message = (letter: string, body: string | Buffer): Buffer => {
    const bytes = Buffer.from(body);
    const head = Buffer.alloc(5);
    head.write(letter);
    head.writeUInt32BE(4 + bytes.length, 1);
    return Buffer.concat([head, bytes]);
  };
  const prepare = (name: string, text: string): Buffer => message("P", `${name}\0${text}\0\0\0`);
  const bind = (name: string): Buffer => message("B", `\0${name}\0\0\0\0\0\0\0`);
  const execute = message("E", "\0\0\0\0\0");
  const sync = message("S", "");
  const ready = (status: "I" | "T"): Buffer => message("Z", status);
  const done = (tag: string): Buffer => message("C", `${tag}\0`);

  /** A connection after its greeting. */
  const greeted = (): PostgresWatch => {
    const watch = new PostgresWatch();
    const startup = Buffer.concat([Buffer.from([0, 0, 0, 8]), Buffer.from([0, 3, 0, 0])]);
    expect(watch.fromClient(startup)).toBeUndefined();
    watch.fromServer(ready("I"));
    return watch;
  };
  const firstFlight = (): Buffer =>
    Buffer.concat([
      ...[prepare("b", "BEGIN"), bind("b"), execute],
      ...[prepare("c", COMPLETE), bind("c"), execute],
      ...[prepare("l", LOCK), bind("l"), execute],
      sync,
    ]);

  test("a commit is told where it begins, whether it is a query of its own or one of a flight", () => {
    expect(greeted().fromClient(message("Q", "COMMIT\0"))).toBe(0);
    const watch = greeted();
    const update = Buffer.concat([
      prepare("u", "UPDATE x SET y = 1"),
      bind("u"),
      execute,
      prepare("e", "COMMIT"),
    ]);
    expect(watch.fromClient(Buffer.concat([update, bind("e"), execute, sync]))).toBe(update.length);
    // It was prepared before, so its name is enough.
    expect(watch.fromClient(Buffer.concat([bind("e"), execute, sync]))).toBe(0);
  });

  test("the words of an isolation level are no commit", () => {
    expect(greeted().fromClient(message("Q", "BEGIN ISOLATION LEVEL READ COMMITTED\0"))).toBeUndefined();
  });

  test("a commit is done when the server says so, in however many pieces it says it", () => {
    const watch = greeted();
    watch.fromClient(message("Q", "COMMIT\0"));
    const answer = Buffer.concat([done("COMMIT"), ready("I")]);
    const told = [...answer].map((byte) => watch.fromServer(Buffer.from([byte])).committed);
    expect(told.filter(Boolean)).toHaveLength(1);
    expect(greeted().fromServer(done("ROLLBACK")).committed).toBe(false);
  });

  test("a pass is open once all of its first flight was answered, and not before", () => {
    const watch = greeted();
    watch.fromClient(firstFlight());
    expect(watch.fromServer(Buffer.concat([done("BEGIN"), done("SELECT 1")])).insidePass).toBe(false);
    expect(watch.fromServer(ready("T")).insidePass).toBe(true);
  });

  test("a transaction that locks no gates, or completes nothing, is not taken for one", () => {
    const renewal = greeted();
    renewal.fromClient(message("Q", "BEGIN\0"));
    expect(renewal.fromServer(ready("T")).insidePass).toBe(false);
    const idle = greeted();
    idle.fromClient(Buffer.concat([prepare("l", LOCK), bind("l"), execute, sync]));
    expect(idle.fromServer(ready("T")).insidePass).toBe(false);
  });

  test("after its end, the next transaction starts anew", () => {
    const watch = greeted();
    watch.fromClient(firstFlight());
    watch.fromServer(ready("T"));
    watch.fromClient(message("Q", "COMMIT\0"));
    watch.fromServer(ready("I"));
    watch.fromClient(message("Q", "BEGIN\0"));
    expect(watch.fromServer(ready("T")).insidePass).toBe(false);
  });
});

describe("what is overheard on a line to MariaDB", () => {
  const packet = (number: number, ...body: (string | number[])[]): Buffer => {
    const bytes = Buffer.concat(body.map((part) => Buffer.from(part as string)));
    const head = Buffer.alloc(4);
    head.writeUIntLE(bytes.length, 0, 3);
    head[3] = number;
    return Buffer.concat([head, bytes]);
  };
  const query = (text: string): Buffer => packet(0, [3], text);
  const OPEN = 0x01;
  const MORE = 0x08;
  const ok = (status: number): Buffer => packet(1, [0, 0, 0, status, 0, 0, 0]);
  const eof = (status: number): Buffer => packet(1, [0xfe, 0, 0, status, 0]);
  const rows = (status: number): Buffer =>
    Buffer.concat([packet(1, [1]), packet(2, "a column"), eof(status), packet(4, [1], "x"), eof(status)]);
  const greeted = (): MysqlWatch => {
    const watch = new MysqlWatch();
    watch.fromServer(packet(0, "a greeting of some length"));
    watch.fromClient(packet(1, [0, 0, 0, 0], "who I am"));
    watch.fromServer(ok(0));
    return watch;
  };
  const FIRST =
    "START TRANSACTION;\nDELETE FROM sluice_running WHERE epoch IN (1);\nSELECT name FROM sluice_gate WHERE name IN ('a') ORDER BY name FOR UPDATE";

  test("a commit is told by the flight that ends with it", () => {
    expect(greeted().fromClient(query("UPDATE x SET y = 1;\nCOMMIT"))).toBe(0);
    expect(
      greeted().fromClient(query("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")),
    ).toBeUndefined();
  });

  test("it is done with the last answer of that flight", () => {
    const watch = greeted();
    watch.fromClient(query("UPDATE x SET y = 1;\nSELECT 1;\nCOMMIT"));
    expect(watch.fromServer(Buffer.concat([ok(OPEN | MORE), rows(OPEN | MORE)])).committed).toBe(false);
    expect(watch.fromServer(ok(0)).committed).toBe(true);
  });

  test("a flight that failed has committed nothing", () => {
    const watch = greeted();
    watch.fromClient(query("UPDATE x SET y = 1;\nCOMMIT"));
    expect(watch.fromServer(packet(1, [0xff, 1, 2], "no")).committed).toBe(false);
  });

  test("a pass is open once all of its first flight was answered", () => {
    const watch = greeted();
    watch.fromClient(query(FIRST));
    expect(watch.fromServer(Buffer.concat([ok(OPEN | MORE), ok(OPEN | MORE)])).insidePass).toBe(false);
    expect(watch.fromServer(rows(OPEN)).insidePass).toBe(true);
  });

  test("other transactions are not taken for one", () => {
    const watch = greeted();
    watch.fromClient(query("START TRANSACTION;\nSELECT id FROM sluice_session FOR UPDATE"));
    expect(watch.fromServer(Buffer.concat([ok(OPEN | MORE), rows(OPEN)])).insidePass).toBe(false);
  });
});
