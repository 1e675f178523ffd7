// One mutex and several clients of one store.
import { asChild } from "../child.ts";
import { contend } from "../contend.ts";
import { connect } from "./built.ts";

await asChild(
  import.meta.url,
  async ({ url, clients, grants }: { url: string; clients: number; grants: number }) => {
    const all = [];
    for (let n = 0; n < clients; n += 1) {
      const sluice = await connect({ store: url, migrate: true });
      const mutex = sluice.mutex("one");
      all.push({
        acquire: async () => {
          const permit = await mutex.acquire();
          return () => permit.release();
        },
        close: () => sluice.close(),
      });
    }
    return contend(all, grants);
  },
);
