// What the figures are held against. A floor that is missed is a defect; an aim is what is worth working for.

/** A figure, or its ratio to another row's figure. */
export interface Target {
  readonly label: string;
  readonly row: string;
  readonly over?: string;
  /** Larger is better. Without `atLeast` and `atMost`, the figure is only reported. */
  readonly atLeast?: Bound;
  /** Smaller is better. */
  readonly atMost?: Bound;
}

interface Bound {
  readonly floor: number;
  readonly aim?: number;
}

const speed: readonly Target[] = [
  {
    label: "24 slots over graphile-worker plain",
    row: "sluice-24",
    over: "graphile-plain",
    atLeast: { floor: 6, aim: 8 },
  },
  {
    label: "500 slots over graphile-worker tuned",
    row: "sluice-500",
    over: "graphile-tuned",
    atLeast: { floor: 1.6, aim: 3 },
  },
  { label: "50 slots over BullMQ", row: "sluice-50", over: "bullmq", atLeast: { floor: 1.8, aim: 3 } },
  { label: "50 slots over BullMQ with our durability", row: "sluice-50", over: "bullmq-always" },
  { label: "24 slots over pg-boss", row: "sluice-24", over: "pg-boss", atLeast: { floor: 5 } },
  { label: "24 slots over pg-boss, one result per batch", row: "sluice-24", over: "pg-boss-one-result" },
  {
    label: "inputs of 10 kB, 24 slots, over graphile-worker plain",
    row: "payload-10k",
    over: "graphile-plain-10k",
  },
  {
    label: "inputs of 10 kB, 500 slots, over graphile-worker tuned",
    row: "payload-10k-500",
    over: "graphile-tuned-10k",
  },
  {
    label: "single enqueues, 32 at once, over graphile-worker",
    row: "enqueue-32-postgres",
    over: "graphile-enqueue-32",
  },
  { label: "four workers over one", row: "sluice-4x24", over: "sluice-24", atLeast: { floor: 1.4, aim: 2 } },
  {
    label: "soft cap over hard cap, 24 slots",
    row: "sluice-24-soft",
    over: "sluice-24",
    atLeast: { floor: 1 },
  },
  {
    label: "soft cap over hard cap, caps that bind",
    row: "sluice-24-soft-binding",
    over: "sluice-24-binding",
    atLeast: { floor: 1 },
  },
  { label: "embedded, tasks/s", row: "embedded", atLeast: { floor: 45_000, aim: 60_000 } },
  { label: "release to next start, PostgreSQL, ms", row: "handover-postgres", atMost: { floor: 2.5 } },
  { label: "release to next start, embedded, ms", row: "handover-embedded", atMost: { floor: 0.8 } },
];

const FLAT = { floor: 1.25 };

const steadiness: readonly Target[] = [
  {
    label: "a pass, 1,000,000 waiting over 1,000",
    row: "pass-blocked-many",
    over: "pass-blocked-few",
    atMost: FLAT,
  },
  { label: "a pass, 100,000 keys over 1,000", row: "pass-keys-many", over: "pass-keys-few", atMost: FLAT },
  {
    label: "a swap, 1,000,000 waiting over 1,000",
    row: "swap-blocked-many",
    over: "swap-blocked-few",
    atMost: FLAT,
  },
  { label: "a swap, 100,000 keys over 1,000", row: "swap-keys-many", over: "swap-keys-few", atMost: FLAT },
  {
    label: "sustained: the last half-minute over the first",
    row: "sustained-last",
    over: "sustained-first",
    atLeast: { floor: 0.8 },
  },
  {
    label: "held transaction: the last half-minute over the first",
    row: "held-xmin-last",
    over: "held-xmin-first",
    atLeast: { floor: 0.8 },
  },
];

const SAME = { floor: 1.5 };

const shape: readonly Target[] = [
  {
    label: "caps on over caps off, one worker",
    row: "sluice-24",
    over: "sluice-24-off",
    atLeast: { floor: 0.85 },
  },
  {
    label: "caps on over caps off, four workers",
    row: "sluice-4x24",
    over: "sluice-4x24-off",
    atLeast: { floor: 0.55 },
  },
  { label: "caps that bind over wide ones, 24 slots", row: "sluice-24-binding", over: "sluice-24" },
  { label: "caps that bind over wide ones, 500 slots", row: "sluice-500-binding", over: "sluice-500" },
  { label: "a limit of 20, four workers over one", row: "sluice-4x24-limit-20", over: "sluice-24-binding" },
  {
    label: "a limit of 20, sixteen workers over one",
    row: "sluice-16x6-limit-20",
    over: "sluice-24-binding",
  },
  { label: "100 queues over one", row: "queues-100", over: "sluice-24" },
  { label: "1,000 lanes over one", row: "lanes-1000", over: "sluice-24" },
  { label: "every task retried once over none", row: "retries", over: "sluice-24" },
  {
    label: "PostgreSQL 18 over the installed one, 24 slots",
    row: "sluice-24",
    over: "sluice-24-installed",
    atMost: SAME,
  },
  { label: "PostgreSQL 18 over MariaDB, 24 slots", row: "sluice-24", over: "sluice-24-mariadb" },
  {
    label: "embedded, two processes: the smaller part in %",
    row: "embedded-2-share",
    atLeast: { floor: 30 },
  },
  {
    label: "1,000 runs in line over 10, PostgreSQL",
    row: "tenants-postgres-many",
    over: "tenants-postgres-few",
    atMost: { floor: 2 },
  },
  {
    label: "1,000 runs in line over 10, embedded",
    row: "tenants-embedded-many",
    over: "tenants-embedded-few",
    atMost: { floor: 2 },
  },
  {
    label: "1,000 runs in line, idle, PostgreSQL, %",
    row: "tenants-postgres-many-idle",
    atMost: { floor: 5 },
  },
  { label: "1,000 runs in line, idle, embedded, %", row: "tenants-embedded-many-idle", atMost: { floor: 5 } },
  { label: "the feed, nobody listening, PostgreSQL", row: "feed-postgres-drain", atLeast: { floor: 0.97 } },
  {
    label: "the feed, nobody listening, PostgreSQL, by processor time",
    row: "feed-postgres-drain-cost",
    atLeast: { floor: 0.97 },
  },
  { label: "the feed, nobody listening, PostgreSQL, enqueues", row: "feed-postgres-enqueue" },
  {
    label: "the feed, nobody listening, PostgreSQL, enqueues, by processor time",
    row: "feed-postgres-enqueue-cost",
  },
  { label: "the feed, nobody listening, embedded", row: "feed-embedded-drain", atLeast: { floor: 0.97 } },
  {
    label: "the feed, nobody listening, embedded, by processor time",
    row: "feed-embedded-drain-cost",
    atLeast: { floor: 0.97 },
  },
  { label: "the feed, nobody listening, embedded, enqueues", row: "feed-embedded-enqueue" },
  {
    label: "the feed, nobody listening, embedded, enqueues, by processor time",
    row: "feed-embedded-enqueue-cost",
  },
  {
    label: "a step late in a tree of 10,000 nodes over one early in it, PostgreSQL",
    row: "tree-late",
    over: "tree-early",
    atMost: { floor: 1.3 },
  },
  {
    label: "a step late in a tree of 10,000 nodes over one early in it, embedded",
    row: "tree-embedded-late",
    over: "tree-embedded-early",
    atMost: { floor: 1.3 },
  },
  { label: "handing over item 99,990 over item 10", row: "items-late", over: "items-early", atMost: SAME },
  {
    label: "a look at its run, item 99,990 over item 10",
    row: "items-late-look",
    over: "items-early-look",
    atMost: SAME,
  },
  {
    label: "10,000 items over 10,000 tasks, PostgreSQL, time",
    row: "items-window",
    over: "items-window-tasks",
    atMost: SAME,
  },
  {
    label: "10,000 items over 10,000 tasks, embedded, time",
    row: "items-window-embedded",
    over: "items-window-embedded-tasks",
    atMost: SAME,
  },
];

export const targets: readonly Target[] = [...speed, ...steadiness, ...shape];
