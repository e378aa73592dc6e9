import type { ClickHouseClient } from '@clickhouse/client';
import type { Config } from '../../config/schema.ts';
import { readQuery } from '../read-query.ts';
import { type Resolution, windowSeconds } from '../read-tails.ts';
import { idleAfterMs } from './window-progress.ts';

/** How many windows of a range can still change. */
export interface WindowStates {
  /** Some partition that is not idle has not passed them. */
  readonly open: number;
  /** Complete enough to be judged; late events may still be merged. */
  readonly provisional: number;
  /** Nothing can change. */
  readonly final: number;
  /** Event time that every partition which is not idle has reached, RFC 3339. */
  readonly complete_until: string;
  /** Event time that every partition has reached. */
  readonly reached_by_all: string;
  /** Events of chunks in the range that came after their window could be judged. */
  readonly late_merged: number;
}

/**
 * States of the windows of a range, widened to whole windows as for `readTails`.
 *
 * @returns undefined where there are no windows, or the group has stored none: nobody can tell then.
 */
export async function readWindowStates(
  client: ClickHouseClient,
  config: Config,
  range: { readonly fromMs: number; readonly toMs: number; readonly resolution: Resolution },
): Promise<WindowStates | undefined> {
  const step = windowSeconds[range.resolution];
  const result = await client.query({
    query: readQuery('window_states'),
    query_params: {
      groupId: config.kafka.group_id,
      table: `latency_${range.resolution}`,
      windowSeconds: step,
      fromSeconds: Math.floor(Math.max(0, range.fromMs) / 1000 / step) * step,
      toSeconds: Math.ceil(range.toMs / 1000 / step) * step,
      graceMs: config.windows.grace,
      allowedLatenessMs: config.windows.allowed_lateness,
      idleMs: idleAfterMs(config),
    },
    format: 'JSONEachRow',
  });
  const rows = await result.json<Record<string, string | number>>();
  const [first] = rows;
  if (first === undefined || Number(first.complete_until_ms) === 0) return undefined;
  const count = (state: string) => Number(rows.find((row) => row.state === state)?.windows ?? 0);
  return {
    open: count('open'),
    provisional: count('provisional'),
    final: count('final'),
    complete_until: new Date(Number(first.complete_until_ms)).toISOString(),
    reached_by_all: new Date(Number(first.reached_by_all_ms)).toISOString(),
    late_merged: Number(first.late_merged),
  };
}
