import type { SeededRandom } from '../base/seeded-random.ts';
import type { LedgerRow } from './ledger-check.ts';

/**
 * The ledger of one partition in the order of storing: mostly in order, with every kind of error, and
 * recreated topics.
 */
export function randomLedger(random: SeededRandom, groupId: string): LedgerRow[] {
  const rows: LedgerRow[] = [];
  let offset = random.between(0, 50);
  let timeMs = 1_790_000_000_000;
  let log = 1;
  const push = (start: number, end: number, more: Partial<LedgerRow> = {}) => {
    const consumed = Math.abs(end - start) * 2;
    rows.push({
      ...{ group_id: groupId, topic: groupId, partition: 3, log_id: `c/t${log}` },
      ...{ start_offset: start, end_offset: end },
      ...{ first_ms: timeMs, last_ms: timeMs + 400, records: Math.abs(end - start), consumed },
      ...{ aggregated: consumed, rejected: 0, late: 0, overflow: 0, unmapped: 0 },
      samples: consumed * 3,
      ...more,
    });
  };
  const count = 1 + random.between(0, 30);
  for (let n = 0; n < count; n++) {
    timeMs += random.between(0, 10) === 0 ? -900 : 500;
    const start = offset;
    offset += 1 + random.between(0, 20);
    const previous = rows.at(-1);
    const fault = random.between(0, 16);
    if (fault === 0) offset += random.between(0, 9);
    else if (fault === 1) push(start, offset, { late: 1 + random.between(0, 3) });
    else if (fault === 2) push(start, Math.max(0, start - random.between(0, 2)));
    else if (fault === 3 && previous !== undefined) rows.push(previous);
    else if (fault === 4) push(Math.max(0, start - random.between(0, 30)), offset);
    else if (fault === 5) {
      offset = random.between(0, 10);
      log++;
      timeMs += random.between(0, 2_000);
    } else if (fault === 6) {
      push(start, offset, { aggregated: 0, unmapped: (offset - start) * 2 });
    } else push(start, offset);
    if (random.between(0, 12) === 0) swapLast(rows);
  }
  return rows;
}

/** Swaps the last rows, as when a clock is set back between two chunks. */
function swapLast(rows: LedgerRow[]): void {
  const [last, before] = [rows.pop(), rows.pop()];
  if (last !== undefined) rows.push(last);
  if (before !== undefined) rows.push(before);
}
