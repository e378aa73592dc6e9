import { expect, it } from 'vitest';
import { minuteMs, secondMs } from '../../src/base/time.ts';
import { type AnomalyEvent, anomalyEventSchema } from '../../src/contract/anomaly-event.ts';
import { useStack } from '../containers/stack.ts';
import { poll } from './kit/poll.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
/** The time to learn from. */
const pastMs = 60 * minuteMs;
const timesOutAfterMs = 30 * secondMs;
const faultMs = 3 * minuteMs;
/**
 * From the first time-out to the end of the window that opens the page, in event time, so that the machine's
 * speed does not matter. A window is judged some seconds after its end: together they are less than a minute.
 */
const mostMs = 50 * secondMs;

it('time-outs at 30 s of a fifth of 20 requests a second are reported by the windows of the first 50 s', () =>
  withRig({ stack, name: 'slow-requests', partitions: 2 }, async (rig) => {
    const { window, grace } = {
      window: rig.config.detect.window,
      grace: rig.config.windows.grace,
    };
    const lengthMs = pastMs + timesOutAfterMs + faultMs;
    const startMs = Math.floor((Date.now() - lengthMs - minuteMs) / minuteMs) * minuteMs;
    const firstMs = startMs + pastMs + timesOutAfterMs;
    const generating = rig.spawn([
      ...['generate', '--models', 'ranker', '--rate', '20', '--daily', '0', '--speed', 'max'],
      ...['--start', new Date(startMs).toISOString(), '--duration', `${lengthMs / secondMs}s`],
      ...['--fault', `timeouts,share=0.2,after=${timesOutAfterMs}ms,from=${pastMs}ms`],
    ]);
    expect([await generating.exited, generating.out()]).toEqual([0, '']);
    const sent = Number(
      /Generated ([\d,]+) events/.exec(generating.err())?.[1]?.replaceAll(',', ''),
    );

    await rig.start(['ingest', 'detect']);
    await rig.untilConsumed(sent);
    const pages = await poll('the time-outs are reported', async () => {
      const opened = await openedPages();
      return opened.length > 0 ? opened : undefined;
    });

    expect(pages).toHaveLength(1);
    const [page] = pages as [AnomalyEvent];
    expect(page).toMatchObject({
      kind: 'tail_shift',
      model: 'ranker',
      severity: 'critical',
      stage: 'forward',
    });
    // It is of the window in which the first of them ended, not of the one in which they started.
    const startedMs = Date.parse(page.started_at);
    expect(Math.abs(startedMs - firstMs)).toBeLessThanOrEqual(window);
    expect(startedMs + page.evidence.windows * window - firstMs).toBeLessThanOrEqual(mostMs);
    expect(page.observed_ms).toBeGreaterThan(0.9 * timesOutAfterMs);
    expect(page.exemplars.length).toBeGreaterThan(0);
    // Slow requests are as punctual as others: fewer than one in 1,000 is late by more than the grace.
    const [counts] = await rig.rows<{ late: string; all: string }>(
      'SELECT sum(late_merged + late) AS late, sum(consumed) AS all FROM flushes',
    );
    expect(Number(counts?.all)).toBe(sent);
    expect(grace).toBe(2 * secondMs);
    expect(Number(counts?.late) / sent).toBeLessThan(0.001);

    async function openedPages(): Promise<AnomalyEvent[]> {
      const rows = await rig.rows<{ body: string }>(
        "SELECT body FROM anomalies FINAL WHERE incident_id = '' AND state = 'opened'",
      );
      return rows.map(({ body }) => anomalyEventSchema.parse(JSON.parse(body)));
    }
  }));
