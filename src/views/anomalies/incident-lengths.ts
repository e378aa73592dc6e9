import type { Config } from '../../config/schema.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type { ComparedTimes, TimeSpan } from '../../contract/compared-times.ts';
import { ofWorstSeries } from '../../contract/worst-series.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import type { IncidentLengths } from '../answers/lengths.ts';
import { readAtLengths } from '../lengths/at-lengths.ts';
import { earlierAnswer } from '../lengths/lengths.ts';
import { wholeWindows } from '../time-range.ts';
import { requestsOf } from './incident-requests.ts';

interface Options {
  readonly nowMs: number;
  readonly retention: Pick<Config['clickhouse']['retention'], 'latency_1m'>;
  /** `incidentTimes` of the event. */
  readonly times: ComparedTimes | undefined;
}

/**
 * The tail of an incident's requests as if their answers were as long as before it: by the same time that a
 * comparison with before takes. Cost: `readAtLengths`.
 *
 * @returns undefined where durations are not what it is about, or nothing before it is stored.
 */
export async function incidentLengths(
  client: ClickHouseClient,
  event: AnomalyEvent,
  { nowMs, retention, times }: Options,
): Promise<IncidentLengths | undefined> {
  if (times === undefined || event.rate !== undefined) return undefined;
  const resolution = times.a.fromMs >= nowMs - retention.latency_1m ? '1m' : '1h';
  const rangeOf = ({ fromMs, toMs }: TimeSpan) =>
    wholeWindows(fromMs / 1000, toMs / 1000, resolution);
  const { earlier, rows } = await readAtLengths(client, {
    filters: requestsOf(event),
    range: rangeOf(times.b),
    earlier: [{ name: 'before the incident', range: rangeOf(times.a) }],
    quantiles: [ofWorstSeries(event).quantile],
  });
  const [row] = rows;
  return row && { ...row, earlier: earlierAnswer(earlier) };
}
