// `sluice doctor` as people and scripts use it: its lines, its JSON, its exit codes, and the remedies it
// names.

import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/api/open-store.ts";
import type { Store } from "../../src/index.ts";
import type { Aside } from "../conformance/tables.ts";
import { populate } from "../doctor/corruptor.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";
import { gives, newProject, says, sluice } from "./terminal.ts";

const CHECKS = [
  "limits",
  "apps",
  "names",
  "deploys",
  "declared",
  "places",
  "claims",
  "epochs",
  "line",
  "waits",
  "rows",
  "recovery",
  "stopping",
  "workers",
  "set aside",
  "version",
  "durability",
  "locks",
  "speed",
  "values",
  "clock",
  "schema",
  "size",
];

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  test("says in one line each that all is well, and ends with 0", async () => {
    const { url } = await populated(place);
    const project = newProject();
    // "speed" depends on settings only on PostgreSQL, and "values" only on MySQL.
    const checks = CHECKS.filter(
      (check) =>
        (check !== "speed" || url.startsWith("postgres")) && (check !== "values" || url.startsWith("mysql")),
    );
    const lines = (await says(project, "doctor", "--store", url)).split("\n");
    expect(lines.slice(0, checks.length).map((line) => line.split(/ {2,}/).slice(0, 2))).toEqual(
      checks.map((check) => ["ok", check]),
    );
    expect(lines.slice(checks.length)).toEqual(["", "All is well.", ""]);
    const data = await gives(project, "doctor", "--store", url);
    expect(Object.keys(data)).toEqual(["store", "kind", "at", "verdict", "checks"]);
    expect(data).toMatchObject({ kind: expect.stringMatching(/^(sqlite|postgres|mysql)$/), verdict: "ok" });
    expect(data.checks.map(({ check }: { check: string }) => check)).toEqual(checks);
    expect(data.checks[0]).toEqual({
      check: "limits",
      verdict: "ok",
      says: "3 gates, none above its limit",
      findings: [],
    });
    expect(JSON.stringify(data)).not.toContain("sluice:sluice@");
  });

  test("with warnings only it ends with 0 and names the command that would help", async () => {
    const { store, url } = await populated(place);
    await store.closeSession("s1");
    const { code, stdout, stderr } = await sluice(newProject(), ["doctor", "--store", url]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^warn {2}recovery {4}claims of workers that are gone: runs$/m);
    expect(stdout).toMatch(
      /^warn {2}workers {5}2 findings\n {8}1 waiting: no live worker serves queue "mail" and/m,
    );
    expect(stdout).toMatch(/^ {10}npx sluice worker app\.js --queues=money --store /m);
    expect(stdout).toMatch(/\nNothing is broken; 3 warnings\.\n$/);
  });

  test("a broken invariant ends with 1, as a line and as data", async () => {
    const { aside, url } = await populated(place);
    await aside.query("DELETE FROM sluice_waiting WHERE id = 'waits'");
    const project = newProject();
    const { code, stdout, stderr } = await sluice(project, ["doctor", "--store", url]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(stdout).toMatch(
      /^fail {2}places {6}tasks that are in none of waiting, later, running and outcome, .*: waits\n {10}No command repairs this\..*\.$/m,
    );
    expect(stdout).toMatch(
      /\n1 broken invariant\. Please report it, with: npx sluice doctor --json --store /,
    );
    const json = await sluice(project, ["doctor", "--json", "--store", url]);
    expect(json).toMatchObject({ code: 1, stderr: "" });
    const { verdict, checks } = JSON.parse(json.stdout);
    expect(verdict).toBe("fail");
    expect(checks.find(({ check }: { check: string }) => check === "places").findings).toMatchObject([
      { verdict: "fail", ids: ["waits"], more: false, cure: expect.any(String) },
    ]);
  });

  test("a lane that was set aside is a warning, and the command it names puts the lane back", async () => {
    const { store, url } = await populated(place);
    const { lane: id } = (await store.task("waits")) as { lane: string };
    const { task } = (await store.wait("waits")) as { task: { queue: string; name: string; asks: string } };
    await store.setAside({ id, queue: task.queue, task: task.name, asks: task.asks }, "value out of range");
    const project = newProject();
    const { stdout } = await sluice(project, ["doctor", "--store", url]);
    expect(stdout).toMatch(
      /^warn {2}set aside {3}lane .+, with 1 unit waiting, was set aside at .+: value out/m,
    );
    const command = new RegExp(`npx sluice (tasks restore ${id}) `).exec(stdout)?.[1] ?? "";
    const args = [...command.split(" "), "--store", url];
    expect(await says(project, ...args)).toMatch(/ is restored, with 1 task in line\.\n$/);
    expect(await store.asides()).toEqual([]);
    expect(await gives(project, "doctor", "--store", url)).toMatchObject({ verdict: "ok" });
    expect(await sluice(project, args)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("was not set aside"),
    });
  });

  test("what it calls lost is mended by the commands it names", async () => {
    const { aside, url } = await populated(place);
    await aside.query("UPDATE sluice_lane SET state = 0 WHERE queue = 'mail'");
    const project = newProject();
    const { stdout } = await sluice(project, ["doctor", "--store", url]);
    const command = /npx sluice (tasks cancel waits) /.exec(stdout)?.[1] ?? "";
    await says(project, ...command.split(" "), "--store", url);
    await says(project, "tasks", "retry", "waits", "--store", url);
    expect(await gives(project, "doctor", "--store", url)).toMatchObject({ verdict: "ok" });
  });
});

describeOn(["postgres"], (place) => {
  test("a setting that breaks a promise is a warning, with its cure", async () => {
    const { aside, url } = await populated(place);
    const [{ name }] = (await aside.query("SELECT current_database() AS name")) as [{ name: string }];
    await aside.query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
    expect(await says(newProject(), "doctor", "--store", url)).toMatch(
      /^warn {2}durability {2}synchronous_commit is off: commits acknowledged just before a crash are lost\n {10}Set it to on /m,
    );
  });
});

describeOn(["mariadb"], (place) => {
  test("a table in another engine is a warning, with its cure", async () => {
    const { aside, url } = await populated(place);
    await aside.query("ALTER TABLE sluice_event ENGINE = MyISAM");
    expect(await says(newProject(), "doctor", "--store", url)).toMatch(
      /^warn {2}durability {2}tables that are not in InnoDB, .*: sluice_event \(MyISAM\)\n {10}Stop the workers and convert each/m,
    );
  });
});

async function populated(place: Place): Promise<{ store: Store; aside: Aside; url: string }> {
  const url = (await place.open()) as string;
  const store = await openStore(url, { migrate: true });
  onTestFinished(() => store.close());
  const aside = await place.beside(url);
  onTestFinished(() => aside.close());
  await populate(store);
  return { store, aside, url };
}
