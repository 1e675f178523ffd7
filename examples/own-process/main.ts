import { setTimeout as sleep } from "node:timers/promises";
import { connect, defineApp, task } from "sluice";

const greet = task({
  id: "greet",
  run: async (name: string) => {
    console.log(`Greeting ${name} …`);
    await sleep(1_000);
    console.log(`Greeted ${name}.`);
  },
});
const sluice = await connect({ app: defineApp({ name: "greetings", tasks: [greet] }) });
await sluice.worker({ slots: 4 });

// Your program decides what a signal means. A second Ctrl-C then ends it at once.
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, async () => {
    await sluice.close({ graceMs: 30_000 });
    console.log("Closed.");
  });

await sluice.enqueue(greet, "Ann");
