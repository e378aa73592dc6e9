import { OperatorError } from '../base/operator-error.ts';
import type { AnomalyEvent } from '../contract/anomaly-event.ts';
import { findAnomaly } from '../sink/anomalies/explanation.ts';
import type { ClickHouseClient } from '../sink/client/clickhouse.ts';

const idsShown = 5;

/**
 * All events of an anomaly, the oldest first; of '' the most severe open one, else the newest.
 *
 * @param doing completes "Cannot … the anomaly": `explain`.
 * @throws {OperatorError} TAILMARK_ANOMALY_UNKNOWN where no id begins so, or several do.
 */
export async function eventsById(
  client: ClickHouseClient,
  id: string,
  doing: string,
): Promise<readonly AnomalyEvent[]> {
  const found = await findAnomaly(client, id);
  if ('ids' in found) throw ambiguous(id, found.ids, doing);
  if (found.events.length === 0) throw unknown(id, doing);
  return found.events;
}

function unknown(id: string, doing: string): OperatorError {
  const message =
    id === ''
      ? `Cannot ${doing} an anomaly: the table has none`
      : `Cannot ${doing} the anomaly: no id begins with ${JSON.stringify(id)}`;
  return new OperatorError('TAILMARK_ANOMALY_UNKNOWN', message, {
    hint: '`tailmark anomalies --since 30d` lists ids; they are kept for clickhouse.retention.anomalies.',
  });
}

function ambiguous(id: string, ids: readonly string[], doing: string): OperatorError {
  const shown = ids.slice(0, idsShown).join(', ');
  const rest = ids.length > idsShown ? ', …' : '';
  return new OperatorError(
    'TAILMARK_ANOMALY_UNKNOWN',
    `Cannot ${doing} the anomaly: ${ids.length} anomalies have ids that begin with ${JSON.stringify(id)}`,
    { hint: `Give more of the id: ${shown}${rest}.` },
  );
}
