import { connect, defineApp, greater, task, workflow } from "sluice";
import { z } from "zod";

const load = task({ id: "load", run: async ({ day }: { day: string }) => ({ day, amounts: [40, 85, 12] }) });
const add = task({ id: "add", run: ({ amounts }: { amounts: number[] }) => amounts.reduce((a, b) => a + b) });
const find = task({ id: "find", run: ({ amounts }: { amounts: number[] }) => Math.max(...amounts) });
const mail = task({ id: "mail", run: ({ words }: { words: string[] }) => words.join(" ") });

const report = workflow({
  id: "report",
  input: z.object({ day: z.string() }),
  steps: (s, { day }) => {
    const orders = s.step("orders", load, { day });
    // References to outputs are typed. These two steps run side by side, once `orders` has succeeded.
    const total = s.step("total", add, { amounts: orders.output.amounts });
    const largest = s.step("largest", find, { amounts: orders.output.amounts });
    // This step runs only if the total is above 100. It has up to three attempts.
    const words = ["Well done on", day];
    const praise = s.step(
      "praise",
      mail,
      { words },
      { when: greater(total.output, 100), retry: { attempts: 3 } },
    );
    return { total: total.output, largest: largest.output, mail: praise.output };
  },
});

const app = defineApp({ name: "reports", tasks: [load, add, find, mail], workflows: [report] });

const sluice = await connect({ app }); // the store of SLUICE_STORE, or else .sluice/storage/
await sluice.worker();
const { id } = await sluice.submit(report, { day: "2026-11-16" }, { tags: { tenant: "acme" } });
const run = await sluice.runs.ended<typeof report>(id);
console.log(run.state, run.result);
for (const { name, state, result } of run.steps) console.log(`  ${name}: ${state}`, result);
await sluice.close();
