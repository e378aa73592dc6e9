import type { LedgerRow } from '../../sink/ledger-check.ts';
import type { Rig } from './rig.ts';

/** Stores ledger rows in `flushes`, each recorded a while after the one before. */
export async function storeLedger(
  rig: Rig,
  rows: readonly LedgerRow[],
  firstFlushedMs: number,
): Promise<void> {
  await rig.client.insert({
    table: 'flushes',
    format: 'JSONEachRow',
    values: rows.map(({ first_ms, last_ms, ...row }, n) => ({
      ...row,
      first_timestamp: first_ms,
      last_timestamp: last_ms,
      flushed_at: firstFlushedMs + n * 5,
    })),
  });
}
