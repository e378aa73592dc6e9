import type { Config } from '../config/schema.ts';

/**
 * The consumer group, as the ledger and tokens name it. Each run on a file is an import with a separate name.
 *
 * @param startedMs start of this run.
 */
export function groupIdOf({ source, kafka }: Config, startedMs: number): string {
  return source.type === 'kafka' ? kafka.group_id : importIdOf(startedMs);
}

export function importIdOf(startedMs: number): string {
  return `file/${new Date(startedMs).toISOString()}`;
}
