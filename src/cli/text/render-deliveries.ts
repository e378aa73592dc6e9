import { timeText } from '../../alert/message/times.ts';
import type { DeliveryStatus } from '../../sink/anomalies/delivery-store.ts';
import { visible } from '../../views/text/format.ts';
import type { Io } from '../io.ts';
import { colorsOf } from './colors.ts';

/** Meaning of an outcome for a person who waits for a page. */
const meanings: Readonly<Record<string, string>> = {
  accepted: 'accepted',
  failed: 'not accepted, tried again',
  rejected: 'rejected, tried again every 5 min: check its address, key and rights',
  unacceptable: 'content refused, sent once more in a short form',
  refused: 'refused, given up',
  expired: 'expired, given up',
  skipped: 'not sent',
};
const settled: readonly string[] = ['accepted', 'refused', 'expired', 'skipped'];
const lost: readonly string[] = ['refused', 'expired'];

/**
 * Renders how far an anomaly came at each receiver, a line for each revision:
 * `to:     pager  2026-11-01 12:00:22 UTC  opened  accepted, 2 attempts`.
 */
export function renderDeliveries(rows: readonly DeliveryStatus[], io: Pick<Io, 'color'>): string {
  const { dim, green, red, yellow } = colorsOf(io);
  const paintOf = (outcome: string) => {
    if (outcome === 'accepted') return green;
    return lost.includes(outcome) ? red : yellow;
  };
  if (rows.length === 0) {
    const hint = 'no receiver yet; `tailmark alert preview ID` says whom it matches';
    return `  ${dim('to:    ')} ${hint}\n`;
  }
  const width = Math.max(...rows.map(({ receiver }) => visible(receiver).length));
  const lines = rows.map((row, i) => {
    const { receiver, state, outcome, attempts, at_ms, answer } = row;
    const at = timeText(new Date(at_ms).toISOString());
    const tries = attempts === 0 ? '' : `, ${attempts} attempt${attempts === 1 ? '' : 's'}`;
    const why = outcome === 'accepted' || answer === '' ? '' : `: ${visible(answer)}`;
    const meaning = isOvertaken(row, rows)
      ? 'not accepted, a later state went instead'
      : (meanings[outcome] ?? outcome);
    const label = i === 0 ? 'to:    ' : '       ';
    const what = `${state.padEnd(8)}  ${paintOf(outcome)(meaning)}${tries}${why}`;
    return `  ${dim(label)} ${visible(receiver).padEnd(width)}  ${at}  ${what}\n`;
  });
  return lines.join('');
}

/** True where it is not tried again, because the receiver was sent a later revision. */
function isOvertaken(
  { receiver, revision, outcome }: DeliveryStatus,
  rows: readonly DeliveryStatus[],
): boolean {
  if (settled.includes(outcome)) return false;
  return rows.some((other) => other.receiver === receiver && other.revision > revision);
}
