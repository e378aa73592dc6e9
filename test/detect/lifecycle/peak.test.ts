import { describe, expect, it } from 'vitest';
import { worseOf } from '../../../src/detect/lifecycle/peak.ts';

const at = '2026-11-29T09:14:20.000Z';
const of = (ratio: number, rate?: number) => ({
  ...{ observed_ms: 100 * ratio, ratio, at },
  ...(rate !== undefined && { rate }),
});

describe('the worse of two sizes', () => {
  it('has the larger ratio, or the larger share of requests', () => {
    expect(worseOf(of(2), of(3), undefined)).toEqual(of(3));
    expect(worseOf(of(2, 0.3), of(3, 0.2), 'failures per request')).toEqual(of(2, 0.3));
  });

  it('has the smaller traffic', () => {
    expect(worseOf(of(1, 30), of(1, 20), 'requests per second')).toEqual(of(1, 20));
  });
});
