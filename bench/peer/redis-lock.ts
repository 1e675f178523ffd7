// One mutex of redis-semaphore, with its own settings. Whoever waits asks again every 10 ms.
import { Redis } from "ioredis";
import { Mutex } from "redis-semaphore";
import { asChild } from "../child.ts";
import { contend } from "../contend.ts";
import type { Contest } from "./lock-cases.ts";

await asChild(import.meta.url, async ({ url, clients, grants }: Contest) => {
  const key = `bench-${process.pid}`;
  const all = Array.from({ length: clients }, () => {
    const redis = new Redis(url);
    return {
      acquire: async () => {
        const mutex = new Mutex(redis, key, { acquireTimeout: 60_000 });
        await mutex.acquire();
        return () => mutex.release();
      },
      close: async () => redis.disconnect(),
    };
  });
  return contend(all, grants);
});
