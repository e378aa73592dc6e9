import type { PagesSummary } from './run-pages.ts';

const shown = 5;

/** Whether nothing was lost or out of order, and at most one in 1,000 was accepted twice. */
export function isRight({ receivers }: PagesSummary): boolean {
  const accepted = receivers.reduce((sum, each) => sum + each.accepted, 0);
  const twice = receivers.reduce((sum, each) => sum + each.twice, 0);
  return (
    receivers.every(({ lost, disordered }) => lost.length + disordered.length === 0) &&
    twice <= accepted / 1_000
  );
}

export function renderPages(summary: PagesSummary, anomalies: number): string {
  const { receivers, kills, takeovers, delaysMs } = summary;
  const lines = [
    `${anomalies} anomalies, ${kills} kills, ${takeovers} of them with a standby`,
    '',
    'receiver     requests  accepted  twice  lost  out of order',
    ...receivers.map(({ name, requests, accepted, twice, lost, disordered }) =>
      [
        name.padEnd(11),
        ...[requests, accepted].map((n) => String(n).padStart(9)),
        ...[String(twice).padStart(6), String(lost.length).padStart(5)],
        String(disordered.length).padStart(13),
      ].join(' '),
    ),
  ];
  const accepted = receivers.reduce((sum, each) => sum + each.accepted, 0);
  const twice = receivers.reduce((sum, each) => sum + each.twice, 0);
  lines.push(
    '',
    `accepted twice: ${twice} of ${accepted} (${((100 * twice) / accepted).toFixed(3)} %)`,
  );
  const sorted = [...delaysMs].sort((a, b) => a - b);
  const at = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;
  lines.push(`decision to accepted, beside the others: median ${at(0.5)} ms, p99 ${at(0.99)} ms`);
  for (const { name, lost, disordered } of receivers) {
    for (const each of lost.slice(0, shown)) lines.push(`  ${name} lost ${each}`);
    for (const each of disordered.slice(0, shown)) lines.push(`  ${name} out of order ${each}`);
  }
  lines.push(isRight(summary) ? 'every page arrived, in order: it holds' : 'it does NOT hold');
  return `${lines.join('\n')}\n`;
}
