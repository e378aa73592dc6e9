import { describe, expect, it } from 'vitest';
import { cloudEvent } from '../../src/alert/cloud-event.ts';
import { anomalyFixture } from '../contract/anomaly-fixture.ts';

describe('cloudEvent', () => {
  it.each(['opened', 'updated', 'resolved'] as const)(
    'names the type after the state %s',
    (state) => {
      const event = anomalyFixture({ state, revision: 7 });
      expect(cloudEvent(event).attributes).toEqual({
        specversion: '1.0',
        id: '0123456789abcdef0123456789abcdef-7',
        source: 'tailmark',
        type: `io.tailmark.anomaly.${state}.v1`,
        time: '2026-11-01T12:00:22.000Z',
        subject: 'tail_shift/ranker/0011223344556677',
      });
    },
  );

  it('has the event itself as its body', () => {
    const event = anomalyFixture();
    expect(JSON.parse(cloudEvent(event).body)).toEqual(event);
  });
});
