import { describe, expect, test } from "vitest";
import type { AnyStore } from "../../store/capabilities.ts";
import type { StoreSettings } from "./judge.ts";
import { settingChecks } from "./settings.ts";

const POSTGRES: StoreSettings = {
  server_version: "16.3",
  server_version_num: "160003",
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  synchronous_standby_names: "",
  idle_in_transaction_session_timeout: "1000",
  lock_timeout: "3000",
  transaction_isolation: "read committed",
  default_transaction_read_only: "off",
  jit: "off",
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  pooler: "off",
  standby: "off",
};
const MARIADB = {
  version: "10.11.6-MariaDB-0+deb12u1",
  innodb_flush_log_at_trx_commit: "1",
  innodb_doublewrite: "ON",
  log_bin: "OFF",
  sync_binlog: "0",
  idle_transaction_timeout: "1",
  innodb_lock_wait_timeout: "3",
  tx_isolation: "READ-COMMITTED",
  sql_mode: "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION",
  read_only: "OFF",
  max_allowed_packet: "16777216",
  autocommit: "ON",
};
const SQLITE: StoreSettings = { version: "3.53.0", journal_mode: "wal", synchronous: "2" };

/** A database, or a store that keeps nothing. */
const storeOf = (kind: string, more: Partial<AnyStore["capabilities"]> = {}) => ({
  kind,
  capabilities: {
    ports: [],
    durable: kind !== "memory",
    shared: kind !== "memory",
    passesAtOnce: false,
    callerTransaction: false,
    parking: true,
    ...more,
  },
});

/** "check: what the finding begins with", for everything that is found. */
function found(kind: string, settings: StoreSettings): string[] {
  return settingChecks(storeOf(kind), settings).flatMap(({ check, findings }) =>
    findings.map(({ text, cure, verdict }) => {
      expect({ verdict, cured: cure.length > 10 }).toEqual({ verdict: "warn", cured: true });
      return `${check}: ${text}`;
    }),
  );
}

describe("a database as it should be", () => {
  test.each([
    ["postgres", POSTGRES, "PostgreSQL 16.3"],
    ["mysql", MARIADB, "MariaDB 10.11.6"],
    ["sqlite", SQLITE, "SQLite 3.53.0"],
  ] as const)("%s has no finding and says what it is", (kind, settings, title) => {
    expect(found(kind, settings)).toEqual([]);
    expect(settingChecks(storeOf(kind), settings)[0]?.says).toBe(title);
  });

  test("a pooler that is known of is no finding, and what it costs is said", () => {
    expect(found("postgres", { ...POSTGRES, pooler: "on" })).toEqual([]);
    const speed = settingChecks(storeOf("postgres"), { ...POSTGRES, pooler: "on" }).find(
      ({ check }) => check === "speed",
    );
    expect(speed?.says).toMatch(/^a pooler is in between/);
  });

  test("synchronous_commit = local is enough where no standby is waited for", () => {
    expect(found("postgres", { ...POSTGRES, synchronous_commit: "local" })).toEqual([]);
  });

  test("sync_binlog matters only with a binary log", () => {
    expect(found("mysql", { ...MARIADB, log_bin: "ON", sync_binlog: "1" })).toEqual([]);
  });
});

test("a store that we do not know is judged by what it says of itself", () => {
  expect(found("etcd", {})).toEqual([]);
  const [version, durability] = settingChecks(storeOf("etcd", { durable: false }), {});
  expect(version?.says).toBe("etcd");
  expect(durability?.findings).toHaveLength(1);
});

describe("one setting that breaks a promise is one warning", () => {
  test.each<[string, StoreSettings, RegExp]>([
    ["postgres", { ...POSTGRES, fsync: "off" }, /^durability: fsync is off/],
    [
      "postgres",
      { ...POSTGRES, server_encoding: "LATIN1" },
      /^durability: the database has the encoding LATIN1/,
    ],
    ["postgres", { ...POSTGRES, full_page_writes: "off" }, /^durability: full_page_writes is off/],
    ["postgres", { ...POSTGRES, synchronous_commit: "off" }, /^durability: synchronous_commit is off/],
    [
      "postgres",
      { ...POSTGRES, synchronous_commit: "local", synchronous_standby_names: "*" },
      /^durability: synchronous_commit is local/,
    ],
    ["postgres", { ...POSTGRES, standby: "on" }, /^durability: this is a standby/],
    [
      "postgres",
      { ...POSTGRES, server_version_num: "130014", server_version: "13.14" },
      /^version: .*13\.14/,
    ],
    ["postgres", { ...POSTGRES, idle_in_transaction_session_timeout: "0" }, /^locks: idle_in_transaction/],
    ["postgres", { ...POSTGRES, lock_timeout: "0" }, /^locks: lock_timeout does not reach/],
    [
      "postgres",
      { ...POSTGRES, transaction_isolation: "serializable" },
      /^locks: .* run in serializable, not/,
    ],
    [
      "postgres",
      { ...POSTGRES, default_transaction_read_only: "on" },
      /^durability: default_transaction_read_only is on/,
    ],
    ["postgres", { ...POSTGRES, jit: "on" }, /^speed: jit is on inside our transactions, not off/],
    ["postgres", { ...POSTGRES, plan_cache_mode: "auto" }, /^speed: plan_cache_mode is auto inside/],
    ["postgres", { ...POSTGRES, enable_seqscan: "on" }, /^speed: enable_seqscan is on inside/],
    [
      "mysql",
      { ...MARIADB, tx_isolation: "REPEATABLE-READ" },
      /^locks: our transactions run in REPEATABLE-READ/,
    ],
    [
      "mysql",
      { ...MARIADB, transaction_isolation: "REPEATABLE-READ" },
      /^locks: our transactions run in REPEATABLE-READ/,
    ],
    ["mysql", { ...MARIADB, innodb_lock_wait_timeout: "50" }, /^locks: innodb_lock_wait_timeout is 50 s/],
    ["mysql", { ...MARIADB, sql_mode: "" }, /^durability: sql_mode is "" on our connections/],
    ["mysql", { ...MARIADB, innodb_flush_log_at_trx_commit: "2" }, /^durability: innodb_flush_log_.* is 2/],
    ["mysql", { ...MARIADB, innodb_doublewrite: "OFF" }, /^durability: innodb_doublewrite is off/],
    ["mysql", { ...MARIADB, log_bin: "ON" }, /^durability: sync_binlog is 0/],
    ["mysql", { ...MARIADB, engines: "sluice_task (MyISAM)" }, /^durability: .*: sluice_task \(MyISAM\)$/],
    ["mysql", { ...MARIADB, max_allowed_packet: "1048576" }, /^values: max_allowed_packet is 1 MB/],
    ["mysql", { ...MARIADB, autocommit: "OFF" }, /^durability: autocommit is off/],
    ["mysql", { ...MARIADB, read_only: "ON" }, /^durability: this server is read-only/],
    [
      "mysql",
      { ...MARIADB, version: "10.5.23-MariaDB" },
      /^version: MariaDB 10\.5\.23 does not support SKIP LOCKED/,
    ],
    ["mysql", { ...MARIADB, version: "5.7.44-log" }, /^version: MySQL 5\.7\.44 does not support SKIP LOCKED/],
    ["mysql", { ...MARIADB, idle_transaction_timeout: "0" }, /^locks: idle_transaction_timeout does not/],
    ["sqlite", { ...SQLITE, version: "3.51.2" }, /^version: SQLite 3\.51\.2 can corrupt/],
    ["sqlite", { ...SQLITE, version: "3.37.9" }, /^version: SQLite 3\.37\.9 is too old/],
    ["sqlite", { ...SQLITE, journal_mode: "delete" }, /^locks: journal_mode is delete/],
    ["sqlite", { ...SQLITE, synchronous: "1" }, /^durability: synchronous is 1/],
    ["sqlite", { ...SQLITE, filesystem: "nfs" }, /^durability: .*network file system \(nfs\)/],
    ["memory", {}, /^durability: nothing is kept/],
  ])("%s %j", (kind, settings, text) => {
    expect(found(kind, settings)).toEqual([expect.stringMatching(text)]);
  });

  test("MySQL 8 cannot cut off who goes silent, and says so", () => {
    const { idle_transaction_timeout: _, ...rest } = MARIADB;
    expect(found("mysql", { ...rest, version: "8.0.36" })).toEqual([
      expect.stringMatching(/^locks: MySQL has no idle_transaction_/),
    ]);
  });
});
