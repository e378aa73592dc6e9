const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** "2026-11-21 10:17:30 UTC". */
export function timeText(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** "10:17 UTC"; of another day than the reference "20 Nov 10:17 UTC". */
export function clockText(iso: string, reference: string): string {
  return `${dayBefore(iso, reference)}${iso.slice(11, 16)} UTC`;
}

/** "10:17 to 10:29 UTC", "20 Nov 23:50 to 21 Nov 00:10 UTC". */
export function spanText(from: string, to: string): string {
  return `${dayBefore(from, to)}${from.slice(11, 16)} to ${dayBefore(to, from)}${to.slice(11, 16)} UTC`;
}

/** "2026-11-21 10:17:30 to 10:29:30 UTC". */
export function longSpanText(from: string, to: string): string {
  const end = from.slice(0, 10) === to.slice(0, 10) ? to.slice(11, 19) : timeText(to).slice(0, -4);
  return `${timeText(from).slice(0, -4)} to ${end} UTC`;
}

function dayBefore(iso: string, reference: string): string {
  if (iso.slice(0, 10) === reference.slice(0, 10)) return '';
  return `${Number(iso.slice(8, 10))} ${months[Number(iso.slice(5, 7)) - 1] ?? ''} `;
}
