import { describe, expect, it } from 'vitest';
import { riseReason } from '../../../src/detect/event/severity-reason.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';

describe('the reason of a rise', () => {
  it.each([
    [0.12, 2.8, '12 % of all requests affected, 2.8x the baseline; critical from 5 % and 2.0x'],
    [0.02, 6.2, '2 % of all requests affected, 6.2x the baseline; critical from 1 % and 5.0x'],
    [0.02, 3, '2 % of all requests affected'],
  ])('is the rule that holds for a share of %f at %f times', (affected_share, ratio, text) => {
    expect(riseReason(anomalyFixture({ affected_share, ratio }))).toBe(text);
  });
});
