// A process that wants one mutex again and again, and each time writes to a resource of its parent. The resource
// takes the fence with each write. This process may be killed or frozen at any moment.

import { connect } from "../../../src/api/connect.ts";
import { openStore } from "../../../src/api/open-store.ts";

const [url = "", rounds = "1", lease = "1s"] = process.argv.slice(2);

type Answer = { readonly value?: number };

let answered: (answer: Answer) => void = () => {};
process.on("message", (answer: Answer) => answered(answer));
process.on("disconnect", () => process.exit(1));

/** Asks the resource, and waits for its answer. */
const ask = (question: object): Promise<Answer> =>
  new Promise((resolve) => {
    answered = resolve;
    process.send?.(question);
  });

const sluice = await connect({ store: await openStore(url, { migrate: false }), locks: { lease } });
const mutex = sluice.mutex("shared file");
for (let round = 0; round < Number(rounds); round += 1) {
  const permit = await mutex.acquire();
  await ask({ kind: "granted", fence: permit.fence });
  const { value = 0 } = await ask({ kind: "read", fence: permit.fence });
  await ask({ kind: "write", fence: permit.fence, value: value + 1 });
  await permit.release();
  await ask({ kind: "released", fence: permit.fence });
}
await sluice.close();
process.exit(0);
