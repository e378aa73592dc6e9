import type { Config } from '../config/schema.ts';

/**
 * Who consumes, as the ledger and tokens have it: the consumer group. A file has a name of its own for each
 * run, as each run is a new import.
 *
 * @param startedMs when this run began.
 */
export function groupIdOf({ source, kafka }: Config, startedMs: number): string {
  return source.type === 'kafka' ? kafka.group_id : importIdOf(startedMs);
}

export function importIdOf(startedMs: number): string {
  return `file/${new Date(startedMs).toISOString()}`;
}
