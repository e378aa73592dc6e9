import { type LlmFaultKind, llmFaultKinds } from './llm-law.ts';
import type { LlmFaultOutcome, LlmOutcome, LlmPage } from './run-llm.ts';

/** The class of each fault, and the parts that may be named for it. */
export const expected: Readonly<
  Record<LlmFaultKind, { readonly bottleneck: string; readonly stages: readonly string[] }>
> = {
  queue: { bottleneck: 'queue', stages: ['queue'] },
  prefill: { bottleneck: 'prefill', stages: ['prefill', 'prefill_per_1k_input_tokens'] },
  decode: { bottleneck: 'decode', stages: ['decode', 'time_per_output_token'] },
  'longer answers': { bottleneck: 'traffic_mix', stages: ['decode', 'total'] },
  'longer prompts': { bottleneck: 'traffic_mix', stages: ['prefill', 'first_token', 'total'] },
};

interface Row extends LlmFaultOutcome {
  readonly ratePerSecond: number;
  readonly pastHours: number;
}

/** Renders what became of the faults, and the pages without one, as Markdown tables. */
export function renderLlm(outcomes: readonly LlmOutcome[]): string {
  const rows = outcomes.flatMap(({ faults, ratePerSecond, pastHours }) =>
    faults.map((fault): Row => ({ ...fault, ratePerSecond, pastHours })),
  );
  const calm = outcomes.filter(({ calmDays }) => calmDays > 0);
  return [
    ...(rows.length > 0 ? faultTable(rows) : []),
    ...calmLines(calm),
    ...otherLines(outcomes),
  ].join('\n');
}

function faultTable(rows: readonly Row[]): string[] {
  const rates = [...new Set(rows.map(({ ratePerSecond }) => ratePerSecond))].sort((a, b) => a - b);
  const pasts = [...new Set(rows.map(({ pastHours }) => pastHours))].sort((a, b) => a - b);
  const heads = ['fault', 'over the least effect', 'found', 'right part', 'right class'];
  return [
    line([...heads, 'median to page, s', 'pages a fault', 'critical']),
    `|${'---|'.repeat(8)}`,
    ...llmFaultKinds.map((kind) =>
      rowOf(
        kind,
        rows.filter((row) => row.kind === kind),
      ),
    ),
    ...rates.flatMap((rate) =>
      pasts.map((past) =>
        rowOf(
          `${rate} requests/s, ${past} h of past`,
          rows.filter((row) => row.ratePerSecond === rate && row.pastHours === past),
        ),
      ),
    ),
    rowOf('**all**', rows),
    '',
  ];
}

function rowOf(name: string, rows: readonly Row[]): string {
  const over = rows.filter(({ isOverLeast }) => isOverLeast);
  const found = over.filter(({ pages }) => pages.length > 0);
  const right = found.filter(isPartRight);
  const classed = found.filter(isClassRight);
  const delays = found.map(({ delayMs }) => (delayMs ?? 0) / 1000).sort((a, b) => a - b);
  const pages = found.reduce((sum, row) => sum + row.pages.length, 0);
  const critical = found.filter((row) =>
    row.pages.some(({ severities }) => severities.includes('critical')),
  );
  return line([
    ...[name, `${over.length} of ${rows.length}`, share(found.length, over.length)],
    ...[share(right.length, found.length), share(classed.length, found.length)],
    ...[
      `${Math.round(delays[delays.length >> 1] ?? Number.NaN)}`,
      (pages / found.length).toFixed(2),
    ],
    share(critical.length, found.length),
  ]);
}

/** By the first page of a fault: that is what somebody is woken by. */
export function isPartRight({ kind, pages: [first] }: LlmFaultOutcome): boolean {
  return expected[kind].stages.includes(first?.stage ?? '');
}

export function isClassRight({ kind, pages: [first] }: LlmFaultOutcome): boolean {
  return expected[kind].bottleneck === first?.bottleneck;
}

function calmLines(calm: readonly LlmOutcome[]): string[] {
  if (calm.length === 0) return [];
  const weeks = calm.reduce((sum, { calmDays }) => sum + calmDays / 7, 0);
  const pages = calm.reduce((sum, { others }) => sum + others.length, 0);
  return [`${pages} pages in ${weeks.toFixed(1)} series-weeks without a fault`, ''];
}

function otherLines(outcomes: readonly LlmOutcome[]): string[] {
  const others = outcomes.flatMap(({ seed, ratePerSecond, others: pages }) =>
    pages.map((page) => `- seed ${seed}, ${ratePerSecond} requests/s: ${pageText(page)}`),
  );
  if (others.length === 0) return ['No page outside of a fault.', ''];
  return [`${others.length} pages outside of a fault:`, ...others, ''];
}

export function pageText({ atMs, mixShare, ...page }: LlmPage): string {
  const { severities, stage, bottleneck, summary } = page;
  const mix = mixShare === undefined ? '' : ` (mix ${mixShare})`;
  return `${(atMs / 3_600_000).toFixed(2)} h, ${severities.join(' to ')}, ${stage}, ${bottleneck}${mix}: ${summary}`;
}

function share(part: number, all: number): string {
  return all === 0 ? '–' : `${part} of ${all} (${((100 * part) / all).toFixed(1)} %)`;
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
