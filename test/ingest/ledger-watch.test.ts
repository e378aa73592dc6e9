import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import type { Logger } from '../../src/base/telemetry/log.ts';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { hourMs } from '../../src/base/time.ts';
import { LedgerWatch } from '../../src/ingest/ledger-watch.ts';

const startMs = 1_790_000_000_000;
const intervalMs = 30_000;

type Row = Readonly<Record<string, string | number>>;

/** A problem as the queries return it: UInt64 as text. */
function row(kind: string, from: number, to: number, more: Row = {}): Row {
  return {
    ...{ kind, group_id: 'g', topic: 't', partition: 2, start_offset: String(from) },
    ...{ end_offset: String(to), from_offset: String(from), to_offset: String(to) },
    ...{ other_start_offset: '0', other_end_offset: '0', amount: String(to - from) },
    ...{ due: '0', had: '0', oldest_ms: String(startMs), found: '1', total: String(to - from) },
    ...more,
  };
}

/** A watch with its own clock, over a server with the given responses. */
class Watched {
  nowMs = startMs;
  ledger: readonly Row[] = [];
  chunks: readonly Row[] = [];
  pending: readonly Row[] = [];
  failure: Error | undefined;
  readonly asked: Readonly<Record<string, unknown>>[] = [];
  readonly lines: { level: string; fields: Record<string, unknown>; text: string }[] = [];
  readonly metrics = createMetrics();
  readonly watch: LedgerWatch;
  #action: () => void = () => undefined;
  everyMs = 0;
  isCancelled = false;

  constructor() {
    const note = (level: string) => (fields: Record<string, unknown>, text: string) => {
      this.lines.push({ level, fields, text });
    };
    const client = {
      query: async (given: { query: string; query_params: Readonly<Record<string, unknown>> }) => {
        this.asked.push(given.query_params);
        if (this.failure !== undefined) throw this.failure;
        if (given.query.includes("'abandoned'")) return { json: async () => this.pending };
        const isChunks = given.query.includes('FROM chunk_landings');
        return { json: async () => (isChunks ? this.chunks : this.ledger) };
      },
    };
    this.watch = new LedgerWatch({
      client: client as unknown as ClickHouseClient,
      groupId: 'g',
      intervalMs,
      landingsMs: 48 * hourMs,
      clock: {
        nowMs: () => this.nowMs,
        every: (ms: number, action: () => void) => {
          this.everyMs = ms;
          this.#action = action;
          return () => {
            this.isCancelled = true;
          };
        },
      } as unknown as Clock,
      log: { info: note('info'), warn: note('warn'), error: note('error') } as unknown as Logger,
      metrics: this.metrics,
    });
  }

  /** Fires the interval. */
  ring(): void {
    this.nowMs += intervalMs;
    this.#action();
  }

  async look(times = 1): Promise<void> {
    for (let n = 0; n < times; n++) {
      this.nowMs += intervalMs;
      await this.watch.check();
    }
  }

  /** Gap, overlap, unaccounted, difference. */
  async gauges(): Promise<number[]> {
    const { ledgerGapOffsets, ledgerOverlapOffsets } = this.metrics;
    const { ledgerUnaccountedEvents, ledgerSampleDifference } = this.metrics;
    const all = [ledgerGapOffsets, ledgerOverlapOffsets];
    const values: number[] = [];
    for (const gauge of [...all, ledgerUnaccountedEvents, ledgerSampleDifference]) {
      values.push((await gauge.get()).values[0]?.value ?? Number.NaN);
    }
    return values;
  }

  async checkedSeconds(): Promise<number | undefined> {
    return (await this.metrics.ledgerCheckedSeconds.get()).values[0]?.value;
  }
}

describe('a check of the ledger', () => {
  it('without problems reports that, and its time', async () => {
    const watched = new Watched();
    expect([await watched.gauges(), await watched.checkedSeconds()]).toEqual([[0, 0, 0, 0], 0]);
    await watched.look();
    expect(await watched.gauges()).toEqual([0, 0, 0, 0]);
    expect(await watched.checkedSeconds()).toBe(watched.nowMs / 1000);
    expect(watched.lines).toEqual([]);
  });

  it('costs the same for a ledger of any length: it reads the last hour of its group', async () => {
    const watched = new Watched();
    await watched.look();
    expect(watched.asked).toMatchObject([
      { groupId: 'g', sinceMs: watched.nowMs - hourMs },
      {
        groupId: 'g',
        sinceMs: watched.nowMs - 600_000,
        landedSinceMs: watched.nowMs - 660_000,
        ledgerSinceMs: watched.nowMs - hourMs,
        firstsToo: false,
      },
      { groupId: 'g' },
    ]);
  });

  it('with every kind of problem twice adds up each metric', async () => {
    const watched = new Watched();
    watched.ledger = [
      row('gap', 10, 15),
      row('gap', 30, 31),
      row('overlap', 40, 47),
      row('conservation', 50, 60, { amount: '3' }),
      row('empty_range', 60, 60),
    ];
    watched.chunks = [
      row('loss', 70, 80, { amount: '100' }),
      row('duplicate', 80, 90, { amount: '20' }),
      row('unrecorded', 90, 90, { amount: '4' }),
    ];
    watched.pending = [row('abandoned', 95, 95, { amount: '1000' })];
    await watched.look(11);
    expect(await watched.gauges()).toEqual([6, 7, 3, 1124]);
    expect(watched.lines).toHaveLength(9);
  });
});

describe('a problem', () => {
  it('in one check alone is ignored: a replica may lag behind', async () => {
    const watched = new Watched();
    watched.ledger = [row('gap', 10, 15)];
    await watched.look();
    watched.ledger = [];
    await watched.look();
    watched.ledger = [row('gap', 10, 15)];
    await watched.look();
    expect(await watched.gauges()).toEqual([0, 0, 0, 0]);
    expect(watched.lines).toEqual([]);
  });

  it('is logged once, with its partition and range', async () => {
    const watched = new Watched();
    watched.ledger = [row('gap', 10, 15)];
    await watched.look(5);
    expect(watched.lines).toEqual([
      {
        level: 'error',
        fields: {
          ...{ kind: 'gap', group_id: 'g', topic: 't', partition: 2, log_id: '' },
          ...{ from_offset: 10, to_offset: 15, amount: 5 },
        },
        text: expect.stringContaining('offsets [10, 15) are in no chunk'),
      },
    ]);
  });

  it('stays when it is older than the checked range', async () => {
    const watched = new Watched();
    watched.ledger = [row('gap', 10, 15)];
    await watched.look(2);
    watched.ledger = [];
    watched.nowMs = startMs + hourMs;
    await watched.look();
    expect(await watched.gauges()).toEqual([5, 0, 0, 0]);
    expect(watched.lines.map(({ level }) => level)).toEqual(['error']);
  });

  it('goes when it is repaired, which is logged', async () => {
    const watched = new Watched();
    watched.ledger = [row('gap', 10, 15), row('gap', 20, 22)];
    await watched.look(2);
    watched.ledger = [row('gap', 20, 22)];
    await watched.look();
    expect(await watched.gauges()).toEqual([2, 0, 0, 0]);
    expect(watched.lines.at(-1)).toMatchObject({ level: 'info', fields: { from_offset: 10 } });
  });

  it('that grows is still the same, and counts with its current size', async () => {
    const watched = new Watched();
    watched.chunks = [row('duplicate', 10, 15, { amount: '7' })];
    await watched.look(2);
    watched.chunks = [row('duplicate', 10, 15, { amount: '9' })];
    await watched.look();
    expect(await watched.gauges()).toEqual([0, 0, 0, 9]);
    expect(watched.lines).toHaveLength(1);
  });

  it('beyond the limit of a check counts although it is not listed, and does not count as repaired', async () => {
    const watched = new Watched();
    watched.ledger = [row('gap', 10, 15, { found: '900', total: '4500' })];
    await watched.look(2);
    expect(await watched.gauges()).toEqual([4500, 0, 0, 0]);
    watched.ledger = [row('gap', 2, 4, { found: '901', total: '4502' })];
    await watched.look();
    expect(await watched.gauges()).toEqual([4502, 0, 0, 0]);
    expect(watched.lines.map(({ level }) => level)).toEqual(['error']);
  });
});

describe('a chunk that nobody finishes', () => {
  const landedMs = startMs - 5 * hourMs;
  const chunk = row('abandoned', 95, 95, { amount: '7', oldest_ms: String(landedMs) });

  it('is looked for every five minutes', async () => {
    const watched = new Watched();
    await watched.look(21);
    const groupsAlone = watched.asked.filter(({ sinceMs }) => sinceMs === undefined);
    expect(groupsAlone).toHaveLength(3);
  });

  it('is resolved when it is finished, however late, and not when its landing has expired', async () => {
    const watched = new Watched();
    watched.pending = [chunk];
    await watched.look(11);
    expect(await watched.gauges()).toEqual([0, 0, 0, 7]);
    watched.pending = [];
    watched.nowMs = landedMs + 48 * hourMs;
    await watched.look();
    expect(await watched.gauges()).toEqual([0, 0, 0, 7]);
    watched.nowMs = startMs + hourMs;
    await watched.look();
    expect(await watched.gauges()).toEqual([0, 0, 0, 0]);
    expect(watched.lines.map(({ level }) => level)).toEqual(['error', 'info']);
  });
});

describe('a check that fails', () => {
  it('is logged once, keeps the known problems, and shows by its time', async () => {
    const watched = new Watched();
    watched.ledger = [row('gap', 10, 15)];
    await watched.look(2);
    const checkedSeconds = watched.nowMs / 1000;
    const denied = { message: 'Not enough privileges', code: '497', type: 'ACCESS_DENIED' };
    watched.failure = new ClickHouseError(denied);
    await watched.look(3);
    expect(await watched.checkedSeconds()).toBe(checkedSeconds);
    expect(await watched.gauges()).toEqual([5, 0, 0, 0]);
    expect(watched.lines.slice(1)).toMatchObject([{ level: 'warn', fields: { code: '497' } }]);
    watched.failure = undefined;
    await watched.look();
    expect(await watched.checkedSeconds()).toBe(watched.nowMs / 1000);
    watched.failure = new Error('connection refused');
    await watched.look();
    expect(watched.lines.map(({ level }) => level)).toEqual(['error', 'warn', 'warn']);
  });
});

describe('the watch', () => {
  it('checks at its interval, one check at a time, and ends after the current one', async () => {
    const watched = new Watched();
    watched.watch.start();
    expect([watched.everyMs, watched.asked.length]).toEqual([intervalMs, 0]);
    watched.ring();
    watched.ring();
    expect(watched.asked).toHaveLength(2);
    await watched.watch.stop();
    expect(watched.isCancelled).toBe(true);
    expect(await watched.checkedSeconds()).toBe((startMs + intervalMs) / 1000);
  });
});
