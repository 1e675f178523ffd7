import type { Defect } from "../defect.ts";

/** MySQL and MariaDB, as somebody has set them. */
export const defects: readonly Defect[] = [
  {
    id: "packet-taken-for-absence",
    means: "a result that is too large for a packet stops its worker for ever",
    file: "src/store/data-error.ts",
    from: '  "ER_NET_PACKET_TOO_LARGE",\n',
    to: "",
    noticedBy: { file: "src/store/mysql/packets.test.ts", test: "too large by itself" },
  },
  {
    id: "packets-unbounded",
    means: "results that fit one by one cannot be stored at the same moment",
    file: "src/store/mysql/packets.ts",
    from: "bytes + more <= room ? packets.at(-1)",
    to: "bytes + more > 0 ? packets.at(-1)",
    noticedBy: { file: "test/mysql/packets.test.ts", test: "results that fit one by one" },
  },
  {
    id: "packet-counted-in-characters",
    means: "texts of other alphabets make packets that the server refuses",
    file: "src/store/mysql/packets.ts",
    from: "Buffer.byteLength(text) + SEPARATOR.length",
    to: "text.length + SEPARATOR.length",
    noticedBy: { file: "src/store/mysql/packets.test.ts", test: "no packet is larger" },
  },
  {
    id: "portions-unbounded",
    means: "a run with many items fails because all of them are written by one statement",
    file: "src/store/portions.ts",
    from: "weight + more <= most ? portions.at(-1)",
    to: "weight + more > 0 ? portions.at(-1)",
    noticedBy: { file: "test/mysql/packets.test.ts", test: "many items that fit one by one" },
  },
  {
    id: "large-line-takes-others-along",
    means: "one line of a log that cannot be stored loses those of every other task",
    file: "src/engine/worker/journal.ts",
    from: "culprits(entries, write).catch(() => {})",
    to: "(entries.length > 0 ? write(entries) : Promise.resolve()).catch(() => {})",
    noticedBy: { file: "test/mysql/packets.test.ts", test: "a line of a log" },
  },
  {
    id: "migration-cut-off",
    means: "a migration that is cut off leaves a store that can never be migrated",
    file: "src/store/mysql/migrate.ts",
    from: "if (!DONE.has(codeOf(error))) throw error;",
    to: "throw error;",
    noticedBy: { file: "test/migration/cut-off.test.ts" },
  },
  {
    id: "migration-inserts-twice",
    means: "a migration that is cut off after its first rows can never be ended",
    file: "src/store/mysql/migrate.ts",
    from: "if (table === undefined) return statement;",
    to: "if (table !== null) return statement;",
    noticedBy: { file: "test/migration/cut-off.test.ts" },
  },
  {
    id: "answer-called-absence",
    means: "a store that lacks a permission is called unreachable",
    file: "src/api/open-store.ts",
    from: "!isAway(error) && isAnswer(error) ? refused(url, error)",
    to: "isAway(error) && isAnswer(error) ? refused(url, error)",
    noticedBy: { file: "test/migration/refused.test.ts" },
  },
];
