import type { ClickHouseClient } from '../../sink/clickhouse.ts';
import { readRows } from '../../sink/read-query.ts';

interface DetectorState {
  /** Up to when windows are evaluated; 0 where none is. */
  readonly evaluatedMs: number;
  readonly openAnomalies: number;
}

/** How far the detector of a consumer group has come, and what it found open. */
export async function detectorState(
  client: ClickHouseClient,
  groupId: string,
): Promise<DetectorState> {
  const [row] = await readRows<Record<'evaluated_ms' | 'open_anomalies', string | number>>(
    client,
    'view_detector',
    { detector: groupId },
  );
  return {
    evaluatedMs: Number(row?.evaluated_ms ?? 0),
    openAnomalies: Number(row?.open_anomalies ?? 0),
  };
}

export async function readEvaluatedMs(client: ClickHouseClient, groupId: string): Promise<number> {
  return (await detectorState(client, groupId)).evaluatedMs;
}
