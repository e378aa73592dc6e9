import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readProblems } from '../../src/sink/ledger-problems.ts';
import { type Verification, verify } from '../../src/sink/verify.ts';
import { SeededRandom } from '../base/seeded-random.ts';
import { useStack } from '../containers/stack.ts';
import { checkLedger, type LedgerRow } from '../sink/ledger-check.ts';
import { randomLedger } from '../sink/random-ledger.ts';
import { benchMessages } from './kit/bench-messages.ts';
import { Rig } from './kit/rig.ts';
import { storeLedger } from './kit/stored-ledger.ts';

const stack = useStack();

interface StoredChunk {
  readonly start: number;
  readonly end: number;
  readonly samples: number;
}

const eventsPerChunk = 100;
const chunksPerPartition = 5;
const settings = {
  INGEST_FLUSH_MAX_EVENTS: String(eventsPerChunk),
  INGEST_FLUSH_INTERVAL: '60s',
};
/** Tables in which a chunk leaves rows: what is read of them, as if it had been stored just now. */
const tables = {
  flushes: '* REPLACE (now64(3) AS flushed_at)',
  chunk_landings: '* REPLACE (now() AS inserted_at)',
  ...{ latency_10s: '*', latency_1m: '*', latency_1h: '*', latency_1d: '*' },
  ...{ drivers_1m: '*', exemplars: '*' },
};

/** A topic of two partitions that is stored, in five chunks each, and verified. */
let stored: Rig | undefined;
beforeAll(async () => {
  if (stack.clickhouseUrl === '') return;
  const rig = await Rig.open({ stack, name: 'verify', partitions: 2, settings });
  stored = rig;
  const { messages } = benchMessages('verify', 2 * chunksPerPartition * eventsPerChunk, 1);
  await rig.publish(messages.map((value, n) => ({ value, partition: n % 2 })));
  const pipeline = await rig.start(['ingest']);
  await rig.untilConsumed(messages.length);
  await pipeline.stop();
  await rig.expectVerified();
});
afterAll(() => stored?.close());

/** Lends a database of its own with the stored rows. */
async function withStored(
  name: string,
  use: (rig: Rig, chunks: readonly StoredChunk[]) => Promise<void>,
): Promise<void> {
  if (stored === undefined) throw new Error('nothing is stored');
  const { topic, config } = stored;
  const same = { KAFKA_TOPICS: topic, KAFKA_GROUP_ID: config.kafka.group_id };
  const rig = await Rig.open({ stack, name, partitions: 2, settings: { ...settings, ...same } });
  try {
    for (const [table, columns] of Object.entries(tables)) {
      await rig.client.command({
        query: `INSERT INTO {table:Identifier} SELECT ${columns} FROM {from:Identifier}.{table:Identifier}`,
        query_params: { table, from: config.clickhouse.database },
      });
    }
    await rig.expectVerified();
    await use(rig, await chunksOf(rig, 1));
  } catch (error) {
    process.stderr.write(`${rig.tail()}\n`);
    throw error;
  } finally {
    await rig.close();
  }
}

async function chunksOf(rig: Rig, partition: number): Promise<StoredChunk[]> {
  const rows = await rig.rows<Record<keyof StoredChunk, string>>(
    `SELECT start_offset AS start, end_offset AS end, samples FROM flushes
     WHERE partition = {partition:UInt32} ORDER BY start`,
    { partition },
  );
  return rows.map(({ start, end, samples }) => ({
    start: Number(start),
    end: Number(end),
    samples: Number(samples),
  }));
}

const chunkAt = (chunks: readonly StoredChunk[], at: number) => chunks.at(at) as StoredChunk;

/** Runs a statement that damages the tables. */
async function meddle(rig: Rig, query: string, params: Record<string, unknown>): Promise<void> {
  await rig.client.command({
    query,
    query_params: params,
    clickhouse_settings: {
      lightweight_deletes_sync: '2',
      mutations_sync: '2',
      insert_deduplicate: 0,
    },
  });
}

function look(rig: Rig): Promise<Verification> {
  const { retention } = rig.config.clickhouse;
  const nowMs = () => Date.now();
  return verify(rig.client, { retention, nowMs, sleep: () => Promise.resolve(), attempts: 1 });
}

const failed = ({ checks }: Verification) => checks.filter(({ ok }) => !ok).map((c) => c.name);
/** Within a second of the ledger's end a chunk may still be in flight. */
const landedEarlier = `ALTER TABLE chunk_landings UPDATE inserted_at = inserted_at - 10
  WHERE partition = 1 AND start_offset = {start:UInt64}`;
/** As many samples as a chunk has, under its name. */
const insertAgain = `INSERT INTO chunk_rows
  (kind, window_start, model, stage, requests, group_id, topic, partition, log_mark, start_offset)
  SELECT 'stage', window_max, 'm', 'forward', samples, group_id, topic, partition, log_mark, start_offset
  FROM flushes
  WHERE partition = 1 AND start_offset = {start:UInt64}`;

describe('verify, of a ledger', () => {
  it('that lacks a row names the partition and the offsets that are missing', () =>
    withStored('verify_gap', async (rig, chunks) => {
      const { start, end, samples } = chunkAt(chunks, 2);
      const query =
        'ALTER TABLE flushes DELETE WHERE partition = 1 AND start_offset = {start:UInt64}';
      await meddle(rig, query, { start });
      await meddle(rig, landedEarlier, { start });
      const where = { group_id: rig.config.kafka.group_id, topic: rig.topic, partition: 1 };
      const range = { from_offset: start, to_offset: end, amount: end - start };
      const { exitCode, out } = await rig.cli(['verify', '--json']);
      expect(exitCode).toBe(2);
      const found = JSON.parse(out) as Verification;
      expect(failed(found)).toEqual(['no gap or overlap of offsets', 'every chunk has its rows']);
      expect([found.ok, found.problem_count]).toEqual([false, 2]);
      expect(found.problems).toMatchObject([
        { kind: 'gap', ...where, start_offset: end, ...range },
        { kind: 'unrecorded', ...where, start_offset: start, amount: samples },
      ]);
      const text = await rig.cli(['verify']);
      expect(text.exitCode).toBe(2);
      expect(text.out).toContain(
        `gap in ${rig.topic}/1 (group ${where.group_id}): offsets [${start}, ${end}) are in no chunk`,
      );
    }));

  it('that has a chunk twice names both ranges', () =>
    withStored('verify_overlap', async (rig, chunks) => {
      const { start, end } = chunkAt(chunks, 1);
      const query = `INSERT INTO flushes SELECT * EXCEPT flushed_at, now64(3) FROM flushes
                     WHERE partition = 1 AND start_offset = {start:UInt64}`;
      await meddle(rig, query, { start });
      const found = await look(rig);
      expect(failed(found)).toEqual(['no gap or overlap of offsets', 'tables match the ledger']);
      expect(found.problems).toMatchObject([
        {
          kind: 'overlap',
          partition: 1,
          from_offset: start,
          to_offset: end,
          detail: `offsets [${start}, ${end}) are in two chunks: [${start}, ${end}) and [${start}, ${end})`,
        },
      ]);
    }));
});

describe('verify, of a chunk', () => {
  it.each([
    ['first', 0],
    ['last', -1],
  ])('whose rows are gone although it is recorded names it: the %s', (name, at) =>
    withStored(`verify_loss_${name}`, async (rig, chunks) => {
      const { start, end, samples } = chunkAt(chunks, at);
      const query =
        'DELETE FROM chunk_landings WHERE partition = 1 AND start_offset = {start:UInt64}';
      await meddle(rig, query, { start });
      const found = await look(rig);
      expect(failed(found)).toEqual(['every chunk has its rows']);
      expect(found.problems).toMatchObject([
        {
          kind: 'loss',
          partition: 1,
          from_offset: start,
          to_offset: end,
          amount: samples,
          detail: `chunk [${start}, ${end}) lacks ${samples} of its ${samples} samples`,
        },
      ]);
    }),
  );

  it.each([
    ['first', 0],
    ['last', -1],
  ])('that was inserted again names it, and the number of extra samples: the %s', (name, at) =>
    withStored(`verify_double_${name}`, async (rig, chunks) => {
      const { start, end, samples } = chunkAt(chunks, at);
      await meddle(rig, insertAgain, { start });
      const found = await look(rig);
      expect(failed(found)).toEqual(['every chunk has its rows', 'tables match the ledger']);
      expect(found.problems).toMatchObject([
        {
          kind: 'duplicate',
          partition: 1,
          from_offset: start,
          to_offset: end,
          amount: samples,
          detail: `chunk [${start}, ${end}) has ${samples} samples too many`,
        },
      ]);
    }),
  );

  it('that is in flight finds nothing wrong: rows without a ledger row, at the end', () =>
    withStored('verify_flight', async (rig, chunks) => {
      const { start, samples } = chunkAt(chunks, -1);
      const query =
        'ALTER TABLE flushes DELETE WHERE partition = 1 AND start_offset = {start:UInt64}';
      await meddle(rig, query, { start });
      const found = await look(rig);
      expect([found.ok, found.problems]).toEqual([true, []]);
      const { detail } = found.checks.find(({ name }) => name.startsWith('tables match')) ?? {};
      expect(detail).toContain(`${samples} in flight`);
    }));
});

describe('verify, of a chunk that nobody finishes', () => {
  /** Rows of a chunk of a log, landed so many seconds ago, without a ledger row. */
  const land = async (rig: Rig, logMark: number, group: string, secondsAgo: number) => {
    const insert = `INSERT INTO chunk_rows
      (kind, window_start, model, stage, requests, group_id, topic, partition, log_mark, start_offset)
      VALUES ('stage', now(), 'm', 'forward', 30, {group:String}, {topic:String}, 1, {logMark:UInt64}, 77)`;
    await meddle(rig, insert, { group, topic: rig.topic, logMark });
    const older = `ALTER TABLE chunk_landings UPDATE inserted_at = inserted_at - {secondsAgo:UInt32}
                   WHERE log_mark = {logMark:UInt64}`;
    await meddle(rig, older, { secondsAgo, logMark });
  };

  it('names it once the partition goes on in another log, as after a move to another cluster', () =>
    withStored('verify_moved', async (rig) => {
      const { group_id } = rig.config.kafka;
      // The other log, of this cluster, was stored just now.
      await land(rig, 1, group_id, 200);
      expect(failed(await look(rig))).toEqual([]);
      await land(rig, 2, group_id, 400);
      const found = await look(rig);
      expect(failed(found)).toEqual(['every chunk has its rows']);
      const where = { group_id, topic: rig.topic, partition: 1, from_offset: 77, amount: 30 };
      expect(found.problems).toMatchObject([{ kind: 'abandoned', ...where }]);
      const { detail } = found.checks.find(({ name }) => name.startsWith('tables match')) ?? {};
      expect(detail).toContain('30 in flight, 30 abandoned');
      const { exitCode, out } = await rig.cli(['verify']);
      expect(exitCode).toBe(2);
      expect(out).toContain(`abandoned in ${rig.topic}/1 (group ${group_id}): the 30 samples`);
    }));

  it('names it after an hour in which nobody has come', () =>
    withStored('verify_gone', async (rig) => {
      await land(rig, 1, 'gone', 3_000);
      expect(failed(await look(rig))).toEqual([]);
      await land(rig, 2, 'gone', 4_000);
      expect((await look(rig)).problems).toMatchObject([{ kind: 'abandoned', group_id: 'gone' }]);
    }));

  it('leaves chunks alone that are in the ledger, however old', () =>
    withStored('verify_old', async (rig) => {
      await meddle(
        rig,
        'ALTER TABLE chunk_landings UPDATE inserted_at = inserted_at - 9000 WHERE 1',
        {},
      );
      expect((await look(rig)).problems).toEqual([]);
    }));
});

describe('verify, of a database without a chunk', () => {
  it('says that there is nothing to verify, and exits with 1: it may be the wrong one', async () => {
    const rig = await Rig.open({ stack, name: 'verify_empty' });
    try {
      const { exitCode, out } = await rig.cli(['verify']);
      const { database } = rig.config.clickhouse;
      expect([exitCode, out]).toEqual([
        1,
        expect.stringContaining(`nothing is stored in ${database}: nothing to verify\n`),
      ]);
      expect(JSON.parse((await rig.cli(['verify', '--json'])).out)).toMatchObject({
        ok: false,
        empty: true,
        problems: [],
      });
    } finally {
      await rig.close();
    }
  });
});

describe('verify, of tables', () => {
  it('that differ on a day names the day, the table and the difference', () =>
    withStored('verify_days', async (rig) => {
      const day = new Date().toISOString().slice(0, 10);
      const query = `INSERT INTO latency_1d (window_start, stage, requests, censored)
                     VALUES (toDateTime({day:String}, 'UTC'), 'total', 7, 2)`;
      await meddle(rig, query, { day });
      const found = await look(rig);
      expect(failed(found)).toEqual(['tables match the ledger', 'all resolutions match']);
      const table = 'latency_1d';
      expect(found.unequal_days).toEqual([
        { day, table, of: 'samples', difference: 7 },
        { day, table, of: 'censored samples', difference: 2 },
      ]);
      expect(found.checks.at(-1)?.detail).toBe(
        `${day}: latency_1d has 7 samples more than latency_10s; ${day}: latency_1d has 2 censored samples more than latency_10s`,
      );
    }));

  it('into which two groups have read one topic names both groups and the offsets', () =>
    withStored('verify_groups', async (rig, chunks) => {
      const group_id = rig.config.kafka.group_id;
      const other = {
        ...rig.config,
        kafka: { ...rig.config.kafka, group_id: `${group_id}.b` },
        ingest: { ...rig.config.ingest, allow_other_groups: true },
      };
      const pipeline = await rig.start(['ingest'], other);
      await rig.untilConsumed(4 * chunksPerPartition * eventsPerChunk);
      await pipeline.stop();
      const found = await look(rig);
      expect(failed(found)).toEqual(['no offset counted by two groups']);
      const to_offset = chunkAt(chunks, -1).end;
      const both = { kind: 'counted_twice', group_id, from_offset: 0, to_offset };
      const detail = `offsets [0, ${to_offset}) are counted by group ${group_id}.b as well`;
      expect(found.problems).toMatchObject([
        { ...both, partition: 0, detail },
        { ...both, partition: 1, detail },
      ]);
    }));
});

describe('the queries that look for problems', () => {
  let rig: Rig;
  beforeAll(async () => {
    if (stack.clickhouseUrl !== '') rig = await Rig.open({ stack, name: 'ledgers' });
  });
  afterAll(() => rig?.close());

  it('return the problems of checkLedger in memory for 400 ledgers, most of them wrong', async () => {
    const ledgers = Array.from({ length: 400 }, (_, seed) =>
      randomLedger(new SeededRandom(seed), `g${seed}`),
    );
    const rows = ledgers.flat();
    await storeLedger(rig, rows, Date.now() - 86_400_000);
    const { problems, kinds } = await readProblems(rig.client, 'ledger_problems', {
      groupId: '',
      sinceMs: 0,
      limit: 1_000_000,
    });
    const due = checkLedger(rows).problems;
    for (const kind of ['gap', 'overlap', 'conservation', 'empty_range'] as const) {
      const amounts = due.filter((problem) => problem.kind === kind).map(({ amount }) => amount);
      const total = amounts.reduce((sum, amount) => sum + amount, 0);
      expect(amounts.length).toBeGreaterThan(50);
      expect([kind, kinds.get(kind)]).toEqual([kind, { found: amounts.length, total }]);
    }
    const found = problems.map(({ oldestMs: _, ...problem }) => problem);
    const sorted = (list: readonly unknown[]) => list.map((p) => JSON.stringify(p)).sort();
    expect(sorted(found)).toEqual(sorted(due));
  });

  it('return so many problems of a kind, and count the rest', async () => {
    const { problems, kinds } = await readProblems(rig.client, 'ledger_problems', {
      groupId: '',
      sinceMs: 0,
      limit: 3,
    });
    expect(problems).toHaveLength(12);
    for (const { found } of kinds.values()) expect(found).toBeGreaterThan(50);
  });

  it('see two groups only where they have counted the same records', async () => {
    const ms = 1_790_000_000_000;
    const row = (
      group_id: string,
      partition: number,
      start: number,
      end: number,
      log_id = 'c/t',
    ) => ({
      ...{ group_id, topic: 'shared', partition, log_id, start_offset: start, end_offset: end },
      ...{
        first_ms: ms + start,
        last_ms: ms + end - 1,
        records: 0,
        consumed: 0,
        aggregated: 0,
      },
      ...{ rejected: 0, late: 0, overflow: 0, unmapped: 0, samples: 0 },
    });
    const rows: LedgerRow[] = [
      // Where one group stopped, the other continued.
      ...[row('a', 0, 0, 50), row('a', 0, 50, 100), row('b', 0, 100, 150)],
      // The other started some way back.
      ...[row('a', 1, 0, 50), row('a', 1, 50, 100), row('b', 1, 70, 150)],
      // The topic was recreated in between.
      ...[row('a', 2, 0, 100), row('b', 2, 0, 100, 'c/u')],
      // Each import of a file is counted.
      ...[row('file/1', 3, 0, 100), row('file/2', 3, 0, 100)],
    ];
    await storeLedger(rig, rows, Date.now() - 86_400_000);
    const { problems } = await readProblems(rig.client, 'counted_twice', {});
    expect(problems).toMatchObject([
      { group_id: 'a', topic: 'shared', partition: 1, from_offset: 70, to_offset: 100, amount: 30 },
    ]);
  });
});
