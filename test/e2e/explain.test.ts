import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/base/time.ts';
import type { Explanation } from '../../src/cli/text/render-explanation.ts';
import { AnomalyStore } from '../../src/sink/anomalies/anomaly-store.ts';
import { explainedEvent } from '../../src/sink/anomalies/read-drivers.ts';
import { useStack } from '../containers/stack.ts';
import { anomalyFixture } from '../contract/anomaly-fixture.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const hosts = ['pod-1', 'pod-2', 'pod-3'];
const faultMinutes = { from: 5, to: 7 };

/** Three requests a second for eight minutes; in two of them those of one host are ten times as slow. */
function events(startMs: number) {
  return Array.from({ length: 8 * 60 * hosts.length }, (_, n) => {
    const second = Math.floor(n / hosts.length);
    const host = hosts[n % hosts.length] as string;
    const minute = second / 60;
    const isSlow = host === 'pod-3' && minute >= faultMinutes.from && minute < faultMinutes.to;
    return {
      ts: startMs + second * 1_000,
      ...{ model: 'ranker', request_type: 'search', region: 'eu-west-1', host },
      ...{ trace_id: `trace-${n}`, batch_size: 8 },
      stages_ms: { features: isSlow ? 185 : 5, forward: 15 },
    };
  });
}

describe('tailmark explain', () => {
  it('shows from the tables the tail over time, the slow host, and the slowest requests', () =>
    withRig({ stack, name: 'explain' }, async (rig) => {
      const startMs = Math.floor(Date.now() / minuteMs - 10) * minuteMs;
      const at = (minute: number) => new Date(startMs + minute * minuteMs).toISOString();
      const sent = events(startMs);
      await rig.start(['ingest']);
      await rig.publish(sent.map((event) => ({ value: JSON.stringify(event) })));
      await rig.untilConsumed(sent.length);

      expect((await rig.cli(['explain'])).exitCode).toBe(1);
      const measured = anomalyFixture({
        quantile: 0.95,
        baseline_ms: 20,
        started_at: at(faultMinutes.from),
        detected_at: at(faultMinutes.from + 1),
        emitted_at: at(faultMinutes.from + 1),
        evidence: {
          ...anomalyFixture().evidence,
          windows: 12,
          baseline_from: at(0),
          baseline_to: at(faultMinutes.from),
        },
      });
      const opened = await explainedEvent(rig.client, measured, 10_000);
      const resolved = {
        ...opened,
        revision: 2,
        state: 'resolved' as const,
        resolution: 'recovered' as const,
        emitted_at: at(faultMinutes.to),
        resolved_at: at(faultMinutes.to),
      };
      const store = new AnomalyStore(rig.client);
      await store.add(opened);
      const shown = await rig.cli(['explain', opened.id.slice(0, 6)]);
      expect([shown.err, shown.exitCode]).toEqual(['', 2]);
      await store.add(resolved);

      const { exitCode, out } = await rig.cli(['explain', opened.id.slice(0, 6), '--json']);
      const explained = JSON.parse(out) as Explanation;
      expect(exitCode).toBe(0);
      expect(explained.events).toEqual([opened, resolved]);
      expect(explained.timeline).toEqual(
        Array.from({ length: 8 }, (_, minute) => ({
          at_ms: startMs + minute * minuteMs,
          requests: 180,
          step_seconds: 60,
          failed: 0,
          cold_starts: 0,
          quantile_ms: minute >= faultMinutes.from && minute < faultMinutes.to ? 200 : 20,
        })),
      );
      expect(explained.drivers).toEqual(opened.drivers);
      expect(explained.drivers).toEqual([
        {
          ...{
            facet: 'host',
            value: 'pod-3',
            share_of_slow: 1,
            share_of_all: 1 / 3,
            baseline_share_of_all: 1 / 3,
          },
          ...{
            slow_rate: 1,
            slow_rate_of_others: 0,
            baseline_slow_rate: 0,
            baseline_slow_rate_of_others: 0,
          },
        },
      ]);
      // All requests are of one size: none of it is mix.
      expect(explained.mix).toMatchObject({ facet: 'batch_size', mix: 0, share: 0 });
      const { mix } = explained;
      expect(mix !== null && 'excess' in mix ? mix.excess : undefined).toBeCloseTo(1 / 3, 9);
      expect(explained.members).toEqual([]);
      expect(explained.slowest).toHaveLength(5);
      for (const request of explained.slowest) {
        expect(request).toMatchObject({ total_ms: 200, host: 'pod-3', status: 'ok' });
        expect(request.stages_ms).toEqual({ features: 185, forward: 15 });
      }

      // It says what messages and pages say, which have the event alone.
      await store.add({ ...measured, id: 'bare' });
      const bare = await rig.cli(['explain', 'bare', '--json']);
      expect(JSON.parse(bare.out)).toMatchObject({ drivers: [], mix: { facet: 'batch_size' } });

      await store.add({ ...opened, id: `${opened.id.slice(0, 6)}-another` });
      const { err } = await rig.cli(['explain', opened.id.slice(0, 6)]);
      expect(err).toContain('2 anomalies have ids that begin with');
      expect(err).toContain(opened.id);
      expect((await rig.cli(['explain', 'nothing'])).err).toContain('TAILMARK_ANOMALY_UNKNOWN');
    }));
});
