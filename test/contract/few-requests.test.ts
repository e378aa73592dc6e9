// Covers src/cli/text/few-requests.ts.

import { expect, it } from 'vitest';
import { MarkedPercentiles } from '../../src/cli/text/few-requests.ts';
import { hollowReason, isHollow, requestsNeeded } from '../../src/contract/few-requests.ts';

it('a percentile needs twenty requests beyond it', () => {
  expect([0.5, 0.9, 0.95, 0.99, 0.999].map(requestsNeeded)).toEqual([40, 200, 400, 2_000, 20_000]);
  expect([isHollow(0.99, 1_999), isHollow(0.99, 2_000)]).toEqual([true, false]);
  expect(hollowReason(0.99, 34)).toBe('34 requests: p99 needs 2,000');
  expect(hollowReason(0.99, 1)).toBe('1 request: p99 needs 2,000');
  expect(hollowReason(0.99, 34, 'gap')).toBe('34 gaps: p99 needs 2,000');
});

it('a percentile of fewer has a star in tables, and the table says what it needs', () => {
  const marked = new MarkedPercentiles({ color: false });
  const text = (q: number, requests: number) => marked.text(q, 412, requests, '≈');
  expect(text(0.5, 26)).toBe('*≈412 ms');
  expect(text(0.999, 26)).toBe('*≈412 ms');
  expect(text(0.99, 2_000)).toBe('≈412 ms');
  expect(marked.text(0.9, Number.NaN, 0)).toBe('–');
  expect(marked.note()).toBe('* few requests: p50 needs 40, p99.9 needs 20,000');
  expect(new MarkedPercentiles({ color: false }).note()).toBe('');
});
