// Covers src/ingest/persist.ts.

import { ClickHouseError } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import { ChunkFlush, type FlushContext } from '../../src/ingest/chunk-flush.ts';
import { countsOf, decodeMetadata } from '../../src/ingest/commit-metadata.ts';
import type { LedgerEntry } from '../../src/sink/chunks/chunk.ts';
import { ClaimLostError } from '../../src/source/source.ts';
import { chunk, letterAt, options, worldOf } from './flush-world.ts';
import { testIntent } from './test-intent.ts';

describe('ChunkFlush', () => {
  it('commits its intent, stores, records it in the ledger, commits its end: in this order', async () => {
    const { steps, claim, context } = worldOf();
    await new ChunkFlush(claim, chunk, [letterAt(11)], options, context).run();
    expect(steps).toEqual([
      'commit 10 55 20',
      'publish t.dlq 1',
      'insert',
      'record',
      'commit 20 77 undefined',
    ]);
  });

  it('records no watermark without one', async () => {
    const { steps, claim, context } = worldOf();
    const none = Number.NEGATIVE_INFINITY;
    await new ChunkFlush(
      claim,
      { ...chunk, watermarkMs: none },
      [],
      { ...options, before: { watermarkMs: none, leaderEpoch: -1 } },
      context,
    ).run();
    expect(steps[0]).toBe('commit 10 undefined 20');
    expect(steps.at(-1)).toBe('commit 20 undefined undefined');
  });

  it.each(['commit', 'insert', 'publish', 'record'])(
    'retries %s until it succeeds',
    async (name) => {
      const error = () => Object.assign(new Error('no'), { code: 'ECONNRESET' });
      const { steps, claim, context, metrics } = worldOf({
        [name]: Array.from({ length: 9 }, error),
      });
      await new ChunkFlush(claim, chunk, [letterAt(11)], options, context).run();
      const pauses = steps.filter((step) => step.startsWith('sleep'));
      expect(pauses.map((step) => Number(step.slice(6)))).toEqual([
        100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000,
      ]);
      const tries = steps.filter((step) => step.startsWith(name));
      expect(tries).toHaveLength(name === 'commit' ? 11 : 10);
      expect(steps.at(-1)).toBe('commit 20 77 undefined');
      const failed = (await metrics.sinkErrors.get()).values;
      expect(failed).toMatchObject([{ labels: { code: 'ECONNRESET' }, value: 9 }]);
    },
  );

  it('ends with the reason and its code where a right has been missing for 30 s', async () => {
    const denied = () =>
      new ClickHouseError({ code: '497', message: 'Not enough privileges: INSERT ON chunk_rows' });
    // A server that starts lacks its tables for a while: that is forgotten once it does something else.
    const refusals = [
      new ClickHouseError({ code: '60', message: 'no table' }),
      new Error('socket hang up'),
      ...Array.from({ length: 20 }, denied),
    ];
    const { steps, claim, context, time } = worldOf({ insert: refusals });
    const clock = {
      ...context.clock,
      sleep: async (ms: number) => {
        time.elapsedMs += ms;
        // So that the claim needs no confirmation.
        await context.clock.sleep(ms);
      },
    };
    const flush = new ChunkFlush(claim, chunk, [], options, { ...context, clock, guardMs: 1e9 });
    await expect(flush.run()).rejects.toMatchObject({
      code: 'TAILMARK_CLICKHOUSE_DENIED',
      exitCode: 78,
      message:
        'Cannot store what was read: clickhouse.username must have the rights of its role; default lacks ' +
        'one: Not enough privileges: INSERT ON chunk_rows',
    });
    // The third attempt is the first that lacks a right, at 300 ms; each sleep is counted before the next.
    const waitedMs = steps
      .filter((step) => step.startsWith('sleep'))
      .map((step) => Number(step.slice(6)));
    expect(waitedMs).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000, 5000]);
    expect(steps.filter((step) => step === 'record' || step.startsWith('commit 20'))).toEqual([]);
  });

  it('that was inherited reads the ledger first, and inserts nothing that is on it', async () => {
    const { steps, claim, context } = worldOf({}, { isRecorded: true, isLanded: true });
    await new ChunkFlush(
      claim,
      chunk,
      [letterAt(11)],
      { ...options, inherited: true },
      context,
    ).run();
    expect(steps).toEqual(['commit 10 55 20', 'look', 'publish t.dlq 1', 'commit 20 77 undefined']);
  });

  it('that was inherited and is not on the ledger is stored', async () => {
    const { steps, claim, context } = worldOf({ look: [new Error('away')] });
    await new ChunkFlush(claim, chunk, [], { ...options, inherited: true }, context).run();
    expect(steps).toEqual([
      'commit 10 55 20',
      'look',
      'sleep 100',
      'look',
      'missing',
      'insert',
      'missing',
      'look',
      'record',
      'look',
      'commit 20 77 undefined',
    ]);
  });

  it('reads the tables before it inserts again, and sends nothing that all of them have', async () => {
    // While it was on its way, 60 other chunks came, and its token was forgotten (seed 28547).
    const state = { isLanded: true };
    const { steps, claim, context } = worldOf({ insert: [new Error('no response')] }, state);
    await new ChunkFlush(claim, chunk, [], options, context).run();
    expect(steps).toEqual([
      'commit 10 55 20',
      'insert',
      'sleep 100',
      'look',
      'missing',
      'record',
      'commit 20 77 undefined',
    ]);
  });

  it('that has landed and is forgotten is not sent again; the ledger has the landed counts', async () => {
    const { steps, claim, context, recorded } = worldOf(
      {},
      { isLanded: true, isRemembered: false },
    );
    const intent = testIntent(20, 99, { records: 12, consumed: 13, aggregated: 13 });
    await new ChunkFlush(claim, chunk, [], { ...options, intent, inherited: true }, context).run();
    expect(steps).toEqual([
      'commit 10 55 20',
      'look',
      'missing',
      'look',
      'record',
      'look',
      'commit 20 77 undefined',
    ]);
    expect(recorded).toMatchObject([
      { startOffset: 10, endOffset: 20, records: 12, consumed: 13, aggregated: 13 },
    ]);
  });

  it('whose response was lost is its own, made of the remaining records, as the ledger has it', async () => {
    const { steps, claim, context, recorded } = worldOf();
    const { store } = context;
    let hasLanded = false;
    const insert = async () => {
      await store.insert(chunk);
      if (hasLanded) return;
      hasLanded = true;
      throw new Error('no response');
    };
    const look = async () => ({ ...(await store.inspect(chunk, 0)), isLanded: hasLanded });
    const intent = testIntent(20, 99, { records: 12, consumed: 13, aggregated: 13 });
    const inherited = { ...options, intent, inherited: true };
    await new ChunkFlush(claim, chunk, [], inherited, {
      ...context,
      store: { ...store, insert, inspect: look },
    }).run();
    expect(steps.filter((step) => step === 'insert')).toHaveLength(1);
    expect(recorded).toMatchObject([{ records: 10, consumed: 10, aggregated: 10 }]);
  });

  it('states its remaining records in the intent, before they land', async () => {
    const { steps, claim, context } = worldOf();
    const metadatas: string[] = [];
    const commit = async (offset: number, metadata: string) => {
      metadatas.push(metadata);
      await claim.commit(offset, metadata);
    };
    const intent = testIntent(20, 99, { records: 12, consumed: 13, aggregated: 13 });
    const inherited = { ...options, intent, inherited: true };
    await new ChunkFlush({ ...claim, commit }, chunk, [], inherited, context).run();
    const before = ['commit 10 55 20', 'look', 'missing', 'commit 10 55 20', 'insert'];
    expect(steps.slice(0, before.length)).toEqual(before);
    const intents = metadatas.map((metadata) => decodeMetadata(metadata)?.intent);
    expect(intents.map((each) => each?.counts.consumed)).toEqual([13, 10, undefined]);
    expect(intents.map((each) => each?.earlier)).toEqual([undefined, [intent.counts], undefined]);
  });

  it.each([
    ['its first process', 5, 12],
    ['a process with only the remaining records', 1, 10],
  ])(
    "has landed from %s: its samples identify the ledger's counts",
    async (_, landedSamples, records) => {
      const found = { isLanded: true, isRemembered: false, landedSamples };
      const { claim, context, recorded } = worldOf({}, found);
      const rows = { rowCount: 3, samples: 5, windowMinMs: 0, windowMaxMs: 0 };
      const intent = testIntent(20, 99, { records: 12, rows });
      await new ChunkFlush(
        claim,
        chunk,
        [],
        { ...options, intent, inherited: true },
        context,
      ).run();
      expect(recorded).toMatchObject([{ records, rows: { samples: landedSamples } }]);
    },
  );

  it('has landed from its first process, after another had committed the remaining counts', async () => {
    const found = { isLanded: true, isRemembered: false, landedSamples: 5 };
    const { claim, context, recorded } = worldOf({}, found);
    const rows = { rowCount: 3, samples: 5, windowMinMs: 0, windowMaxMs: 0 };
    const first = testIntent(20, 99, { records: 12, rows }).counts;
    const intent = { ...testIntent(20, 99, countsOf(chunk)), earlier: [first] };
    await new ChunkFlush(claim, chunk, [], { ...options, intent, inherited: true }, context).run();
    expect(recorded).toMatchObject([{ records: 12, rows: { samples: 5 } }]);
  });

  it('has landed from its first process while the ledger could not be written', async () => {
    const found = { isLanded: false, landedSamples: 0 };
    const { claim, context, recorded } = worldOf({ record: [new Error('away')] }, found);
    const { inspect: look, record } = context.store;
    const store = {
      ...context.store,
      record: async (entry: LedgerEntry, attempt: number) => {
        // The delayed rows arrive now.
        found.landedSamples = 5;
        await record(entry, attempt);
      },
      inspect: async (...asked: Parameters<typeof look>) => ({
        ...(await look(...asked)),
        ...found,
      }),
    };
    const rows = { rowCount: 3, samples: 5, windowMinMs: 0, windowMaxMs: 0 };
    const intent = testIntent(20, 99, { records: 12, rows });
    const given = { ...options, intent, inherited: true };
    await new ChunkFlush(claim, chunk, [], given, { ...context, store }).run();
    expect(recorded).toMatchObject([
      { records: 10, rows: { samples: 1 } },
      { records: 12, rows: { samples: 5 } },
    ]);
  });

  it('sends to a table alone its missing rows after an insert was repeated', async () => {
    const place = { table: 'latency_1m', kind: 'stage', fromS: 0, toS: 86_400 } as const;
    const { steps, claim, context, metrics } = worldOf(
      { insert: [new Error('killed')], fill: [undefined, new Error('killed')] },
      {},
      // The repeated rows are dropped too, as the server dies again; then they are stored.
      [[place], [place], [place], [place], [place], []],
    );
    await new ChunkFlush(claim, chunk, [], options, context).run();
    expect(steps).toEqual([
      'commit 10 55 20',
      'insert',
      'sleep 100',
      'look',
      'missing',
      'insert',
      'missing',
      'fill latency_1m 0',
      'missing',
      'fill latency_1m 1',
      'sleep 200',
      'look',
      'missing',
      'insert',
      'missing',
      'fill latency_1m 0',
      'missing',
      'record',
      'commit 20 77 undefined',
    ]);
    const filled = (await metrics.chunksFilled.get()).values;
    expect(filled).toMatchObject([{ labels: { table: 'latency_1m' }, value: 2 }]);
  });

  it('writes the ledger row under another token where the one before left none', async () => {
    const { steps, claim, context } = worldOf({ record: [new Error('killed')] }, {}, [], 2);
    await new ChunkFlush(claim, chunk, [], options, context).run();
    expect(steps).toEqual([
      'commit 10 55 20',
      'insert',
      'record',
      'sleep 100',
      'look',
      'record',
      'look',
      'record 1',
      'look',
      'record 2',
      'look',
      'commit 20 77 undefined',
    ]);
  });

  it('checks for the ledger row, where it is the first of its claim', async () => {
    const { steps, claim, context } = worldOf({}, {}, [], 1);
    await new ChunkFlush(claim, chunk, [], { ...options, isFirst: true }, context).run();
    expect(steps).toEqual([
      'commit 10 55 20',
      'insert',
      'record',
      'look',
      'record 1',
      'look',
      'commit 20 77 undefined',
    ]);
  });

  it('continues where a table does not keep the sent rows', async () => {
    const place = { table: 'latency_10s', kind: 'stage', fromS: 0, toS: 86_400 } as const;
    const all = Array.from({ length: 5 }, () => [place]);
    const { steps, claim, context } = worldOf({}, { isLanded: true }, all);
    await new ChunkFlush(claim, chunk, [], { ...options, inherited: true }, context).run();
    const fills = steps.filter((step) => step.startsWith('fill'));
    expect(fills).toEqual(['fill latency_10s 0', 'fill latency_10s 1', 'fill latency_10s 2']);
    expect(steps.at(-1)).toBe('commit 20 77 undefined');
  });

  it('checks with the broker again before it sends after a long pause', async () => {
    const { steps, claim, context, time } = worldOf({ insert: [new Error('no response')] });
    const { clock } = context;
    const sleep = async (ms: number) => {
      time.elapsedMs += 5_001;
      await clock.sleep(ms);
    };
    await new ChunkFlush(claim, chunk, [], options, {
      ...context,
      clock: { ...clock, sleep },
    }).run();
    expect(steps).toEqual([
      'commit 10 55 20',
      'insert',
      'sleep 100',
      'look',
      'missing',
      'commit 10 55 20',
      'insert',
      'missing',
      'record',
      'commit 20 77 undefined',
    ]);
  });

  it('checks once more where the pause was during the check', async () => {
    const { steps, claim, context, time } = worldOf({ insert: [new Error('no response')] });
    const pauses = [0, 5_001, 5_001, 0];
    const commit = async (offset: number, metadata: string) => {
      await claim.commit(offset, metadata);
      time.elapsedMs += pauses.shift() ?? 0;
    };
    const { clock } = context;
    const sleep = async () => {
      time.elapsedMs += 5_001;
    };
    const paused = { ...context, clock: { ...clock, sleep } };
    await new ChunkFlush({ ...claim, commit }, chunk, [], options, paused).run();
    const commits = steps.slice(0, steps.indexOf('record')).filter((step) => step !== 'missing');
    expect(commits).toEqual([
      'commit 10 55 20',
      'insert',
      'look',
      'commit 10 55 20',
      'commit 10 55 20',
      'commit 10 55 20',
      'insert',
    ]);
  });

  it.each(['commit', 'insert', 'record'])('stops when the claim is lost at %s', async (name) => {
    const lost = new ClaimLostError('t/0');
    const { steps, claim, context } = worldOf({ [name]: [lost] });
    await expect(new ChunkFlush(claim, chunk, [], options, context).run()).rejects.toBe(lost);
    expect(steps.at(-1)).toMatch(new RegExp(`^${name}`));
    expect(steps.filter((step) => step.startsWith('commit 20'))).toEqual([]);
  });

  it('sends nothing where the claim is lost during the check with the broker', async () => {
    const { steps, claim, context, time } = worldOf({ insert: [new Error('no response')] });
    const { clock } = context;
    const sleep = async () => {
      time.elapsedMs += 5_001;
    };
    const commit = async (offset: number, metadata: string) => {
      await claim.commit(offset, metadata);
      claim.isLost = time.elapsedMs > 0;
    };
    const losing = {
      topic: 't',
      partition: 0,
      commit,
      get isLost() {
        return claim.isLost;
      },
    };
    const flushing = new ChunkFlush(losing, chunk, [], options, {
      ...context,
      clock: { ...clock, sleep },
    }).run();
    await expect(flushing).rejects.toThrow(ClaimLostError);
    expect(steps).toEqual(['commit 10 55 20', 'insert', 'look', 'missing', 'commit 10 55 20']);
  });

  it('does not retry a failure, when the claim was lost meanwhile', async () => {
    const { steps, claim, context } = worldOf({ insert: [new Error('no')] });
    const { clock } = context;
    const sleep = async (ms: number) => {
      claim.isLost = true;
      await clock.sleep(ms);
    };
    const losing: FlushContext = { ...context, clock: { ...clock, sleep } };
    await expect(new ChunkFlush(claim, chunk, [], options, losing).run()).rejects.toThrow(
      ClaimLostError,
    );
    expect(steps).toEqual(['commit 10 55 20', 'insert', 'sleep 100']);
  });

  it('writes dead letters in batches, and none without a topic for them', async () => {
    const letters = Array.from({ length: 1_201 }, (_, offset) => letterAt(offset));
    const { steps, claim, context } = worldOf();
    await new ChunkFlush(claim, chunk, letters, options, context).run();
    expect(steps.filter((step) => step.startsWith('publish'))).toEqual([
      'publish t.dlq 500',
      'publish t.dlq 500',
      'publish t.dlq 201',
    ]);
    const file = worldOf();
    await new ChunkFlush(file.claim, chunk, letters, options, {
      ...file.context,
      publisher: undefined,
    }).run();
    expect(file.steps.filter((step) => step.startsWith('publish'))).toEqual([]);
  });
});
