import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';

export interface PagePlanOptions {
  readonly seed: number;
  readonly anomalies: number;
  /** Time over which anomalies open. */
  readonly forMs: number;
}

/** An event, and when it is decided, from the start of the run. */
export interface PlannedEvent {
  readonly atMs: number;
  readonly event: AnomalyEvent;
}

/**
 * Anomalies that open, change, rise and resolve, in order of time. Each has a model of its own, by which any
 * message shows whose it is. Every fifth repeats the dedup key of the one before it.
 */
export function pagePlan({ seed, anomalies, forMs }: PagePlanOptions): PlannedEvent[] {
  const random = new SeededRandom(seed);
  const planned: PlannedEvent[] = [];
  let lastEndMs = 0;
  for (let i = 0; i < anomalies; i++) {
    const sharesKey = i % 5 === 4;
    const opensMs = sharesKey ? lastEndMs + 500 : Math.floor((forMs * i) / anomalies);
    const lastsMs = random.between(1_000, 30_000);
    const rises = random.chance(0.2);
    const base = {
      id: `${seed.toString(16).padStart(4, '0')}${i.toString(16).padStart(28, '0')}`,
      dedup_key: `tail_shift/storm/${Math.floor(sharesKey ? i - 1 : i)}`,
      model: `model-${i}`,
      summary: `p99 of model-${i} is slow`,
      started_at: new Date(Date.UTC(2026, 10, 1) + i * 60_000).toISOString(),
    };
    const add = (atMs: number, changed: Partial<AnomalyEvent>) => {
      planned.push({ atMs, event: anomalyFixture({ ...base, ...changed }) });
    };
    const severity = rises ? 'warning' : random.pick(['warning', 'critical'] as const);
    add(opensMs, { revision: 1, severity });
    add(opensMs + lastsMs * 0.3, { revision: 2, state: 'updated', severity });
    const risen = rises ? 'critical' : severity;
    add(opensMs + lastsMs * 0.6, { revision: 3, state: 'updated', severity: risen });
    const endMs = opensMs + lastsMs;
    add(endMs, {
      revision: 4,
      state: 'resolved',
      severity: risen,
      resolved_at: new Date(Date.parse(base.started_at) + lastsMs).toISOString(),
      resolution: 'recovered',
      summary: `p99 of model-${i} recovered`,
    });
    lastEndMs = endMs;
  }
  return planned.sort((a, b) => a.atMs - b.atMs);
}
