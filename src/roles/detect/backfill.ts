import { systemClock } from '../../base/clock.ts';
import type { Detector } from '../../detect/detector.ts';
import type { DetectOptions } from '../../detect/options/detect-options.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { readHours } from '../../sink/windows/read-hours.ts';
import { readTraffic } from '../../sink/windows/read-traffic.ts';

/**
 * Backfills eight days: requests per model, hours per series. Yields between pieces.
 *
 * @param requireLead throws once another process leads.
 */
export async function backfillPast(
  client: ClickHouseClient,
  detector: Pick<Detector, 'backfillTraffic' | 'backfillHours'>,
  untilMs: number,
  { quantiles, max_series }: Pick<DetectOptions, 'quantiles' | 'max_series'>,
  requireLead: () => void,
): Promise<void> {
  for await (const blocks of readTraffic(client, untilMs)) {
    const last = blocks.at(-1);
    if (last !== undefined) detector.backfillTraffic(blocks, last.startMs);
    requireLead();
    await systemClock.yieldToEventLoop();
  }
  detector.backfillTraffic([], untilMs);
  for await (const hours of readHours(client, untilMs, quantiles, max_series)) {
    detector.backfillHours(hours);
    requireLead();
    await systemClock.yieldToEventLoop();
  }
}
