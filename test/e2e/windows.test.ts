import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { hourMs } from '../../src/base/time.ts';
import { readWindowStates, type WindowStates } from '../../src/sink/windows/read-window-states.ts';
import { completeUntil, readProgress } from '../../src/sink/windows/window-progress.ts';
import { SeededRandom } from '../base/seeded-random.ts';
import { useStack } from '../containers/stack.ts';
import { poll } from './kit/poll.ts';
import type { Rig } from './kit/rig.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const windowMs = 10_000;
/** A whole window, some minutes ago. */
const baseMs = Math.floor(Date.now() / windowMs) * windowMs - 600_000;
/** A request that ends at this time. */
const event = (endMs: number) =>
  JSON.stringify({ ts: endMs - 3, model: 'm', stages_ms: { forward: 3 } });

describe('window_states.sql', () => {
  const windowCount = 20;
  const settings = {
    WINDOWS_IDLE_PARTITION: '1h',
    WINDOWS_GRACE: '2s',
    WINDOWS_ALLOWED_LATENESS: '30s',
  };

  it("returns of any ledger the detector's bounds, and the defined states", () =>
    withRig({ stack, name: 'states', settings }, async (rig) => {
      const windows = Array.from({ length: windowCount }, (_, n) => baseMs + n * windowMs);
      await rig.client.insert({
        table: 'latency_10s',
        format: 'JSONEachRow',
        values: windows.map((ms) => ({ window_start: ms / 1000, stage: 'total' })),
      });
      const random = new SeededRandom(9);
      const groups = Array.from({ length: 150 }, (_, n) => `states-${n}`);
      await rig.client.insert({
        table: 'flushes',
        format: 'JSONEachRow',
        values: groups.flatMap((group) => ledgerOf(random, group)),
      });
      const seen = { open: 0, provisional: 0, final: 0, nothing: 0 };
      for (const group_id of groups) {
        const config = { ...rig.config, kafka: { ...rig.config.kafka, group_id } };
        const range = { fromMs: baseMs, toMs: baseMs + windowCount * windowMs };
        const found = await readWindowStates(rig.client, config, { ...range, resolution: '10s' });
        const due = await statesDue(rig, group_id, windows);
        expect([group_id, found]).toEqual([group_id, due]);
        seen.open += due?.open ?? 0;
        seen.provisional += due?.provisional ?? 0;
        seen.final += due?.final ?? 0;
        seen.nothing += due === undefined ? 1 : 0;
      }
      for (const count of Object.values(seen)) expect(count).toBeGreaterThan(5);
      await rig.client.command({ query: 'TRUNCATE TABLE flushes' });
      await rig.client.command({ query: 'TRUNCATE TABLE latency_10s' });
    }));

  /** Chunks of a few partitions: active, idle, or with nothing good in them. */
  function ledgerOf(random: SeededRandom, group_id: string) {
    return Array.from({ length: random.between(1, 4) }, (_, partition) => {
      const isGarbage = random.chance(0.3);
      const watermarkMs = isGarbage ? 0 : baseMs + random.between(-50, 250) * 1_000;
      const flushedMs = Date.now() - (random.chance(0.5) ? 2 * hourMs : 60_000);
      const chunk = {
        ...{ group_id, topic: 't', partition, start_offset: 0, end_offset: 5 },
        ...{ watermark: watermarkMs, flushed_at: flushedMs },
        ...{ aggregated: isGarbage ? 0 : 5, late_merged: random.between(0, 3) },
        ...{ window_min: baseMs / 1000, window_max: baseMs / 1000 },
      };
      // Later garbage is no sign of life.
      const later = { start_offset: 5, end_offset: 9, flushed_at: Date.now() };
      return [chunk, { ...chunk, ...later, aggregated: 0, window_min: 0, window_max: 0 }];
    }).flat();
  }

  async function statesDue(
    rig: Rig,
    groupId: string,
    windows: readonly number[],
  ): Promise<WindowStates | undefined> {
    const { windows: w, ingest } = rig.config;
    const progress = await readProgress(rig.client, groupId);
    const idleMs = w.idle_partition + ingest.flush_interval;
    const completeMs = completeUntil(progress, Date.now(), idleMs);
    if (!Number.isFinite(completeMs)) return undefined;
    const reached = progress.map(({ watermarkMs }) => watermarkMs).filter((ms) => ms > 0);
    const reachedMs = Math.min(...reached);
    const states = windows.map((startMs) => {
      const endMs = startMs + windowMs;
      if (endMs + w.allowed_lateness <= reachedMs) return 'final';
      return endMs + w.grace <= completeMs ? 'provisional' : 'open';
    });
    const count = (state: string) => states.filter((each) => each === state).length;
    const [row] = await rig.rows<{ n: string }>(
      `SELECT sum(late_merged) AS n FROM flushes WHERE group_id = {groupId:String} AND window_max > 0`,
      { groupId },
    );
    return {
      ...{ open: count('open'), provisional: count('provisional'), final: count('final') },
      complete_until: new Date(completeMs).toISOString(),
      reached_by_all: new Date(reachedMs).toISOString(),
      late_merged: Number(row?.n),
    };
  }
});

it('windows are open, provisional, then final; late merges are counted; an idle partition holds none open', () => {
  const settings = {
    WINDOWS_IDLE_PARTITION: '1s',
    WINDOWS_GRACE: '2s',
    WINDOWS_ALLOWED_LATENESS: '30s',
  };
  return withRig({ stack, name: 'late', partitions: 2, settings }, async (rig) => {
    const metrics = createMetrics();
    await rig.start(['ingest'], rig.config, metrics);
    const tails = async () => {
      const from = new Date(baseMs).toISOString();
      const { out } = await rig.cli(['tails', '--since', from, '--resolution', '10s', '--json']);
      return JSON.parse(out) as { windows: WindowStates; tails: { requests: number }[] };
    };
    const send = (partition: number, ...times: number[]) =>
      rig.publish(times.map((ts) => ({ value: event(ts), partition })));

    // Partition 1 stays behind, at 5 s; partition 0 advances to 55 s.
    await send(1, baseMs + 5_000);
    await send(0, baseMs, baseMs + 15_000, baseMs + 55_000);
    await rig.untilConsumed(4);
    const idle = await poll('partition 1 to be idle', async () => {
      const { windows } = await tails();
      return windows.provisional > 0 ? windows : undefined;
    });
    // Idle or not, partition 1 may still have events for the first windows: none is final.
    expect(idle).toMatchObject({ final: 0, late_merged: 0 });
    expect(idle.open + idle.provisional).toBe(3);
    expect(idle.reached_by_all).toBe(new Date(baseMs + 5_000).toISOString());

    // Late, and allowed: 25 s is 30 s behind 55 s. The window of 45 s has not passed its grace.
    await send(0, baseMs + 25_000, baseMs + 26_000, baseMs + 50_000);
    await rig.untilConsumed(7);
    expect((await tails()).windows.late_merged).toBe(2);
    const counted = (await metrics.eventsLateMerged.get()).values[0]?.value;
    expect(counted).toBe(2);

    // All partitions are past the first window's end by the allowed lateness: it is final.
    await send(1, baseMs + 40_000);
    await rig.untilConsumed(8);
    const last = await tails();
    expect(last.windows).toMatchObject({ final: 1, late_merged: 2 });
    expect(last.tails.reduce((most, row) => Math.max(most, row.requests), 0)).toBe(8);
    const { out } = await rig.cli(['tails', '--since', new Date(baseMs).toISOString()]);
    expect(out).toMatch(/^windows of 10s: 1 final, \d provisional, \d open; 2 late merges$/m);
    // The same word and number where all is counted; what is late there is a dead letter.
    const verified = (await rig.cli(['verify'])).out;
    expect(verified).toMatch(/^ +2 late merges: they count/m);
    expect(verified).toContain(' + 0 late + ');
  });
});

it('a chunk without a single good event, of the oldest possible records, is stored like the rest', () =>
  withRig({ stack, name: 'garbage' }, async (rig) => {
    await rig.publish([
      { value: 'no event', timestampMs: 0 },
      { value: 'nor this', timestampMs: 99_999_999_999 },
    ]);
    await rig.start(['ingest']);
    await rig.untilConsumed(2);
    const rows = await rig.rows<Record<string, string>>(
      `SELECT toUnixTimestamp64Milli(first_timestamp) AS first, rejected,
              toUnixTimestamp64Milli(last_timestamp) AS last,
              toUnixTimestamp64Milli(watermark) AS watermark
       FROM flushes`,
    );
    const numbers = rows.map((row) => Object.entries(row).map(([key, n]) => [key, Number(n)]));
    expect(numbers.map((row) => Object.fromEntries(row))).toEqual([
      { first: 0, last: 99_999_999_999, rejected: 2, watermark: 0 },
    ]);
  }));
