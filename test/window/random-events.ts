import { standardStages } from '../../src/base/dimensions.ts';
import { SeededRandom } from '../base/seeded-random.ts';
import type { TimingEventText } from './timing-event-text.ts';

export interface RandomEventsOptions {
  readonly fromMs: number;
  /** Mean event time between an event and the one before. */
  readonly stepMs: number;
  /** Most event time that an event may lag behind. */
  readonly jitterMs: number;
  readonly models?: number;
}

/** Events of a few series, mostly in order, some partial, some cold, with every status. */
export function randomEvents(
  random: SeededRandom,
  count: number,
  options: RandomEventsOptions,
): TimingEventText[] {
  const { fromMs, stepMs, jitterMs, models = 3 } = options;
  return Array.from({ length: count }, (_, i) => {
    const ts = Math.floor(fromMs + i * stepMs - random.unit() * jitterMs);
    const event: TimingEventText = { ts, model: `m${random.between(1, models)}` };
    if (random.chance(0.8)) event.region = random.pick(['eu', 'us']);
    if (random.chance(0.5)) event.version = random.pick(['1', '2']);
    if (random.chance(0.7)) event.host = `pod-${random.between(1, 5)}`;
    if (random.chance(0.3)) event.tenant = random.pick(['a', 'b']);
    if (random.chance(0.1)) event.cold_start = true;
    if (random.chance(0.2)) event.status = random.pick(['error', 'timeout', 'cancelled', 'ok']);
    if (random.chance(0.5)) event.cache_hit = random.chance(0.5);
    if (random.chance(0.5)) event.batch_size = random.between(0, 70);
    if (random.chance(0.3)) event.input_tokens = random.between(0, 5_000);
    event.id = `r${i}`;
    if (random.chance(0.9)) event.stages_ms = randomStages(random);
    if (event.stages_ms !== undefined && random.chance(0.2)) event.partial = true;
    if (event.stages_ms === undefined || (event.partial !== true && random.chance(0.5))) {
      event.total_ms = milliseconds(random);
    }
    return event;
  });
}

/** The same events, of which half have gaps between tokens: none, some, or more than a sketch keeps as they are. */
export function withRandomGaps(
  events: readonly TimingEventText[],
  seed: number,
): TimingEventText[] {
  const random = new SeededRandom(seed);
  return events.map((event) => {
    if (random.chance(0.5)) return event;
    const count = random.between(0, random.chance(0.1) ? 200 : 9);
    return { ...event, itl_ms: Array.from({ length: count }, () => milliseconds(random)) };
  });
}

function randomStages(random: SeededRandom): Record<string, number> {
  const stages: Record<string, number> = {};
  for (const stage of standardStages) if (random.chance(0.5)) stages[stage] = milliseconds(random);
  stages.forward = milliseconds(random);
  return stages;
}

/** Log-uniform over six decades, to the microsecond; sometimes 0. */
function milliseconds(random: SeededRandom): number {
  if (random.chance(0.02)) return 0;
  return Math.round(10 ** (random.unit() * 6 - 3) * 1000) / 1000;
}
