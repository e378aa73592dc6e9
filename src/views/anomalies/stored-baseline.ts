import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { readFirstMinute } from '../../sink/windows/window-range.ts';

/**
 * The event with its baseline as far as it is stored and lies before it, for who reads its times. A detector
 * keeps a baseline in blocks, which begin at round times, and may have learnt windows that it found to be of
 * the anomaly later.
 */
export async function withStoredBaseline(
  client: ClickHouseClient,
  event: AnomalyEvent,
): Promise<AnomalyEvent> {
  const { model, evidence, worst } = event;
  if (model === '') return event;
  const fromMs = Date.parse(evidence.baseline_from);
  const firstMs = await readFirstMinute(client, { model, fromMs });
  const cut = (of: AnomalyEvent['evidence']) => ({ ...of, ...cutBaseline(event, of, firstMs) });
  return {
    ...event,
    evidence: cut(evidence),
    ...(worst && { worst: { ...worst, evidence: cut(worst.evidence) } }),
  };
}

/**
 * Start and end of a baseline within what is stored.
 *
 * @param firstMs first minute that is stored from its start on; one after its end is none of it.
 */
export function cutBaseline(
  { started_at }: Pick<AnomalyEvent, 'started_at'>,
  { baseline_from, baseline_to }: Pick<AnomalyEvent['evidence'], 'baseline_from' | 'baseline_to'>,
  firstMs: number | undefined,
) {
  const startMs = Date.parse(started_at);
  const fromMs = Date.parse(baseline_from);
  const toMs = Math.max(fromMs, Math.min(Date.parse(baseline_to), startMs));
  const isCut = firstMs !== undefined && firstMs > fromMs && firstMs < toMs;
  return {
    baseline_from: isCut ? new Date(firstMs).toISOString() : baseline_from,
    baseline_to: new Date(toMs).toISOString(),
  };
}
