import { expect, it } from 'vitest';
import { renderLlm } from './render-llm.ts';
import type { LlmFaultOutcome, LlmOutcome, LlmPage } from './run-llm.ts';

const page = (stage: string, bottleneck: string, atMs = 0): LlmPage => ({
  ...{ atMs, kind: 'tail_shift', stage, bottleneck, severities: ['warning'] },
  ...{ summary: 'p99 is slow', mixShare: undefined },
});
const order = { seed: 1, ratePerSecond: 6, pastHours: 6, calmDays: 0 };
const fault = (pages: LlmPage[], isOverLeast = true): LlmFaultOutcome => ({
  ...{ kind: 'prefill', factor: 4, isOverLeast, pages },
  delayMs: pages.length === 0 ? undefined : 30_000,
});

it('counts faults over the least effect, by the first page of each', () => {
  const outcome: LlmOutcome = {
    ...order,
    others: [],
    faults: [
      fault([page('prefill', 'prefill'), page('queue', 'queue')]),
      fault([page('queue', 'prefill')]),
      fault([]),
      fault([page('prefill', 'prefill')], false),
    ],
  };
  const rendered = renderLlm([outcome]);
  expect(rendered).toContain(
    '| prefill | 3 of 4 | 2 of 3 (66.7 %) | 1 of 2 (50.0 %) | 2 of 2 (100.0 %) | 30 | 1.50 | 0 of 2 (0.0 %) |',
  );
  expect(rendered).toContain('No page outside of a fault.');
});

it('names each page of calm traffic', () => {
  const others = [page('total', 'unknown', 7_200_000)];
  const rendered = renderLlm([{ ...order, calmDays: 14, faults: [], others }]);
  expect(rendered).toContain('1 pages in 2.0 series-weeks without a fault');
  expect(rendered).toContain(
    '- seed 1, 6 requests/s: 2.00 h, warning, total, unknown: p99 is slow',
  );
});
