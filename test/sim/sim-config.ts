import { type Config, configSchema } from '../../src/config/schema.ts';
import type { SeededRandom } from '../base/seeded-random.ts';
import type { FaultPlan } from './fault-plan.ts';

const base = configSchema.parse({});
const day = 86_400_000;

/** Precision of counts in a run: dimensions that differ between processes are merged. */
export type Grain = 'series' | 'model' | 'window';

/** Keys of the tables that are the same for every configuration. */
export function grainOf(faults: FaultPlan): Grain {
  if (faults.has('few_series')) return 'window';
  return faults.has('config_changed') ? 'model' : 'series';
}

/** A configuration of small chunks; with `config_changed` each process has a different one. */
export function simConfig(
  random: SeededRandom,
  faults: FaultPlan,
  given: { readonly groupId: string; readonly topics: string[]; readonly isLive: boolean },
): Config {
  const differs = faults.has('config_changed');
  const dimensions = random.pick([
    ['model', 'region', 'cold_start'],
    ['model'],
    ['model', 'cold_start'],
    ['model', 'region'],
  ] as const);
  if (differs) faults.note('config_changed');
  return {
    ...base,
    kafka: {
      ...base.kafka,
      brokers: ['kafka-1:9092', 'kafka-2:9092'],
      topics: given.topics,
      group_id: given.groupId,
      session_timeout: 6_000,
      start_from: faults.has('start_from_latest') ? 'latest' : 'earliest',
    },
    windows: {
      ...base.windows,
      dimensions: differs ? [...dimensions] : ['model', 'region', 'cold_start'],
      facets: differs && random.chance(0.5) ? [] : base.windows.facets,
      allowed_lateness: day,
      // So small that events of now need a clock of now.
      max_future: given.isLive ? 10_000 : base.windows.max_future,
    },
    ingest: {
      ...base.ingest,
      flush_interval: random.pick([1_000, 2_000, 5_000, 10_000]),
      flush_max_events: random.pick([5, 12, 30, 60, 100_000]),
      // Whole chunks of late events are to be rejected.
      pause_above_rejected: 1,
    },
    limits: { ...base.limits, max_series: faults.has('few_series') ? random.between(2, 8) : 1_000 },
  };
}
