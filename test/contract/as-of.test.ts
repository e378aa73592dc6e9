import { describe, expect, it } from 'vitest';
import { withAsOf, withDayOf } from '../../src/contract/as-of.ts';
import { anomalyFixture } from './anomaly-fixture.ts';

const at = '2026-11-29T09:14:20.000Z';

describe('the sentence of an open anomaly', () => {
  it('ends by the time that its numbers are of', () => {
    expect(withAsOf('p99 is 2 ms', at)).toBe('p99 is 2 ms; as of 09:14:20 UTC');
    expect(withAsOf('p99 is 2 ms', undefined)).toBe('p99 is 2 ms');
  });

  it('has the day where a page is to show the time in its zone', () => {
    const text = withAsOf('p99 is 2 ms', at);
    const event = anomalyFixture();
    expect(withDayOf(text, { ...event, measured_at: at })).toBe(
      'p99 is 2 ms; as of 2026-11-29 09:14:20 UTC',
    );
    expect(withDayOf(text, event)).toBe(text);
  });
});
