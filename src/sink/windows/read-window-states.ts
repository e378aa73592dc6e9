import type { ClickHouseClient } from '@clickhouse/client';
import type { Config } from '../../config/schema.ts';
import { readRows } from '../client/read-query.ts';
import { type Resolution, windowSeconds } from './read-tails.ts';
import { idleAfterMs } from './window-progress.ts';

/** Numbers of a range's windows by state. */
export interface WindowStates {
  /** Not passed yet by some partition that is not idle. */
  readonly open: number;
  /** Evaluated; late events may still be merged. */
  readonly provisional: number;
  /** Cannot change. */
  readonly final: number;
  /** Event time that every non-idle partition has reached, RFC 3339. */
  readonly complete_until: string;
  /** Event time that every partition has reached. */
  readonly reached_by_all: string;
  /** Events of chunks in the range that arrived after their window could be evaluated. */
  readonly late_merged: number;
}

/**
 * Reads the states of a range's windows, widened to whole windows as in `readTails`.
 *
 * @returns undefined without windows, or without stored chunks of the group.
 */
export async function readWindowStates(
  client: ClickHouseClient,
  config: Config,
  range: { readonly fromMs: number; readonly toMs: number; readonly resolution: Resolution },
): Promise<WindowStates | undefined> {
  const step = windowSeconds[range.resolution];
  const rows = await readRows<Record<string, string | number>>(client, 'window_states', {
    groupId: config.kafka.group_id,
    table: `latency_${range.resolution}`,
    windowSeconds: step,
    fromSeconds: Math.floor(Math.max(0, range.fromMs) / 1000 / step) * step,
    toSeconds: Math.ceil(range.toMs / 1000 / step) * step,
    graceMs: config.windows.grace,
    allowedLatenessMs: config.windows.allowed_lateness,
    idleMs: idleAfterMs(config),
  });
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
