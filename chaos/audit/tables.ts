/** The tables at the end of a run, and snapshots of them in between. */
import type { Asks, OutcomeRow, RunRow, Snapshot, Tables, TaskRow } from "../history.ts";
import type { Place, Row } from "../place/place.ts";

const RUNS = "SELECT r.id, r.workflow, r.source, t.input FROM sluice_run r JOIN sluice_task t ON t.id = r.id";

export async function readTables(place: Place): Promise<Tables> {
  const ids = async (table: string): Promise<string[]> =>
    (await place.sql(`SELECT id FROM ${table}`)).map(({ id }) => String(id));
  return {
    tasks: (await place.sql("SELECT id, name, idem_key, options, run, step, item FROM sluice_task")).map(
      taskRow,
    ),
    runs: (await place.sql(RUNS)).map(runRow),
    news: (await place.sql("SELECT run FROM sluice_news")).map(({ run }) => String(run)),
    gates: (await place.sql("SELECT name FROM sluice_gate")).map(({ name }) => String(name)),
    waiting: await ids("sluice_waiting"),
    later: await ids("sluice_later"),
    running: await ids("sluice_running"),
    stopping: await ids("sluice_stopping"),
    outcomes: (await place.sql("SELECT id, state, epoch, attempt, losses, body FROM sluice_outcome")).map(
      outcomeRow,
    ),
    lanes: await readLanes(place),
    // The session of runs in progress is not a process and never ends.
    sessions: await ids(`sluice_session WHERE expires_at > ${place.leaseNow()} AND id <> '@runs'`),
  };
}

async function readLanes(place: Place): Promise<Map<string, Asks>> {
  // The lanes of a run are deleted with it, but its units still have their asks.
  const rows = await place.sql(
    "SELECT id, asks FROM sluice_lane UNION SELECT lane AS id, asks FROM sluice_task",
  );
  return new Map(
    rows.map(({ id, asks }) => [
      String(id),
      Object.fromEntries(JSON.parse(String(asks)) as [string, number][]),
    ]),
  );
}

const text = (value: unknown): string | null => (value === null ? null : String(value));

const taskRow = ({ id, name, idem_key, options, run, step, item }: Row): TaskRow => ({
  id: String(id),
  name: String(name),
  key: text(idem_key),
  attempts:
    (JSON.parse(String(options)) as { retry?: { attempts: number } }).retry?.attempts ??
    Number.POSITIVE_INFINITY,
  run: text(run),
  step: text(step),
  item: item === null ? null : Number(item),
});

const runRow = ({ id, workflow, source, input }: Row): RunRow => ({
  id: String(id),
  workflow: String(workflow),
  source: String(source),
  mark: (JSON.parse(String(input) || "{}") as { mark?: string }).mark ?? null,
});

const outcomeRow = ({ id, state, epoch, attempt, losses, body }: Row): OutcomeRow => ({
  id: String(id),
  state: String(state),
  epoch: epoch === null ? null : Number(epoch),
  attempt: Number(attempt),
  losses: Number(losses),
  body: body === null ? null : String(body),
});

/** The claims that count right now. One statement, so one snapshot. */
export async function takeSnapshot(place: Place): Promise<Snapshot> {
  const now = place.leaseNow();
  const rows = await place.sql(
    `SELECT r.epoch, r.lane FROM sluice_running r JOIN sluice_session s ON s.id = r.session
      WHERE r.held = 1 AND s.expires_at > ${now} AND (r.until_at IS NULL OR r.until_at > ${now})`,
  );
  return {
    at: Date.now(),
    claims: rows.map(({ epoch, lane }) => ({ epoch: Number(epoch), lane: String(lane) })),
  };
}

/** How much is still to do, by place. */
export async function backlog(
  place: Place,
): Promise<{ waiting: number; later: number; running: number; news: number }> {
  const [row = {}] = await place.sql(
    "SELECT (SELECT count(*) FROM sluice_waiting) AS waiting, (SELECT count(*) FROM sluice_later) AS later, (SELECT count(*) FROM sluice_running) + (SELECT count(*) FROM sluice_stopping) AS running, (SELECT count(*) FROM sluice_news) AS news",
  );
  return {
    waiting: Number(row.waiting),
    later: Number(row.later),
    running: Number(row.running),
    news: Number(row.news),
  };
}
