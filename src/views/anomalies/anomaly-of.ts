import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { findAnomaly } from '../../sink/anomalies/explanation.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { UnknownName } from '../unknown-name.ts';

/**
 * The events of an anomaly, the oldest first.
 *
 * @param id the whole id, or a start that no other id has.
 * @throws UnknownName where no id begins so, or more than one.
 */
export async function eventsOf(
  client: ClickHouseClient,
  id: string,
): Promise<readonly [AnomalyEvent, ...AnomalyEvent[]]> {
  const found = id === '' ? { ids: [] } : await findAnomaly(client, id);
  const [first, ...others] = 'ids' in found ? [] : found.events;
  if (first === undefined) throw new UnknownName(`No anomaly has the id ${JSON.stringify(id)}.`);
  return [first, ...others];
}

/**
 * The newest event of an anomaly of a model, or of several models of which it is one.
 *
 * @throws UnknownName as `eventsOf`, and for one of other models: who may read this model alone learns
 * the same.
 */
export async function anomalyOfModel(
  client: ClickHouseClient,
  id: string,
  model: string,
): Promise<AnomalyEvent> {
  const events = await eventsOf(client, id).catch((error: unknown) => {
    if (!(error instanceof UnknownName)) throw error;
  });
  const event = events?.at(-1);
  const isOfModel =
    event?.model === model || event?.members?.some((member) => member.model === model) === true;
  if (event !== undefined && isOfModel) return event;
  throw new UnknownName(`No anomaly of ${model} has the id ${JSON.stringify(id)}.`);
}
