import { describe, expect, test } from "vitest";
import { Turns } from "./turns.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Work that lasts until the test ends it. */
function world(most: number) {
  const turns = new Turns(most);
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string, isFirst = false): Promise<string> =>
    turns.during(isFirst, async () => {
      running.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return name;
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await turn();
  };
  return { turns, running, work, end };
}

describe("turns at the connections of a process", () => {
  test("are taken in order, and one is kept for those who go first", async () => {
    const { running, work, end } = world(3);
    for (const name of ["a", "b", "c", "d"]) void work(name);
    await turn();
    expect(running).toEqual(["a", "b"]);
    void work("renewal", true);
    void work("pass", true);
    await turn();
    expect(running).toEqual(["a", "b", "renewal"]);
    await end("a");
    expect(running).toEqual(["a", "b", "renewal", "pass"]);
    await end("b");
    await end("renewal");
    await end("pass");
    expect(running).toEqual(["a", "b", "renewal", "pass", "c", "d"]);
  });

  test("a single connection serves everybody", async () => {
    const { running, work, end } = world(1);
    void work("a");
    void work("b");
    void work("renewal", true);
    await turn();
    await end("a");
    await end("renewal");
    expect(running).toEqual(["a", "renewal", "b"]);
  });

  test("work that fails gives its turn back", async () => {
    const turns = new Turns(1);
    const failing = turns.during(false, () => Promise.reject(new Error("refused")));
    await expect(failing).rejects.toThrow("refused");
    expect(await turns.during(false, async () => 1)).toBe(1);
  });

  test("who waits when they are closed is refused at once, and who works may finish", async () => {
    const { turns, work, end } = world(2);
    const working = work("a");
    const waiting = [work("b"), work("c")].map((each) => each.catch((error) => error.code));
    await turn();
    let isOver = false;
    const closing = turns.close().then(() => {
      isOver = true;
    });
    expect(await Promise.all(waiting)).toEqual(["CLOSED", "CLOSED"]);
    await expect(work("d", true)).rejects.toMatchObject({ code: "CLOSED" });
    await turn();
    expect(isOver).toBe(false);
    await end("a");
    expect(await working).toBe("a");
    await closing;
  });

  test("nobody is waited for when nobody works", async () => {
    await new Turns(1).close();
  });
});
