import { describe, expect, it } from 'vitest';
import type { UntimedRow } from '../../../src/alert/outbox/delivery.ts';
import { ReceiverWatch } from '../../../src/alert/outbox/receiver-watch.ts';
import type { Answer } from '../../../src/alert/receiver.ts';
import { hourMs } from '../../../src/base/time.ts';
import type { GivenUp } from '../../../src/sink/anomalies/delivery-store.ts';

const startMs = Date.UTC(2026, 10, 1, 12);
const away: Answer = { outcome: 'failed', answer: '503 Service Unavailable' };
const fine: Answer = { outcome: 'accepted', answer: '202' };
const row: UntimedRow = {
  ...{ receiver: 'pager', id: 'a1', revision: 1, attempt: 2, outcome: 'refused', form: 'minimal' },
  ...{
    state: 'opened',
    severity: 'critical',
    answer: '400 no such key',
    memory: '',
    mayHaveArrived: true,
  },
};

interface Before {
  readonly outages?: ReadonlyMap<string, number>;
  readonly givenUp?: readonly GivenUp[];
}

async function watching({ outages = new Map(), givenUp = [] }: Before = {}) {
  const time = { nowMs: startMs };
  const watch = new ReceiverWatch({
    receivers: ['pager', 'chat'],
    nowMs: () => time.nowMs,
    store: { outages: async () => new Map(outages), givenUp: async () => [...givenUp] },
  });
  await watch.start();
  return { watch, time };
}

describe('a watched receiver', () => {
  it('that fails is named, since its first failure after the last acceptance', async () => {
    const { watch, time } = await watching();
    expect(watch.notes()).toEqual([]);
    watch.answered('pager', away);
    watch.answered('chat', fine);
    time.nowMs += 2 * hourMs;
    watch.answered('pager', { outcome: 'rejected', answer: '401 Unauthorized' });
    expect(watch.notes()).toEqual([
      'alert: pager has accepted nothing for 2 h, since 2026-11-01T12:00:00Z; it is tried again. Its last answer: 401 Unauthorized',
    ]);
    watch.answered('pager', fine);
    expect(watch.notes()).toEqual([]);
    watch.answered('pager', away);
    expect(watch.notes().join()).toContain('for 0 s, since 2026-11-01T14:00:00Z');
  });

  it('has been away for as long as a predecessor saw, until it accepts', async () => {
    const outages = new Map([['pager', startMs - 30 * hourMs]]);
    const { watch } = await watching({ outages });
    // It may be back: nobody has asked it yet.
    expect(watch.notes()).toEqual([]);
    watch.answered('pager', away);
    expect(watch.notes().join()).toContain('for 30 h, since 2026-10-31T06:00:00Z');
    watch.answered('pager', fine);
    watch.answered('pager', away);
    expect(watch.notes().join()).toContain('for 0 s');
  });

  it('is not away where it refuses content', async () => {
    const { watch } = await watching();
    watch.answered('pager', { outcome: 'unacceptable', answer: '400' });
    expect(watch.notes()).toEqual([]);
  });

  it('that did not get something is named for a day, with the last', async () => {
    const before: GivenUp = {
      ...{ receiver: 'pager', id: 'a0', revision: 3, outcome: 'expired' },
      ...{ answer: 'not accepted for too long', atMs: startMs - 20 * hourMs },
    };
    const { watch, time } = await watching({ givenUp: [before] });
    expect(watch.notes()).toEqual([
      'alert: an event to pager was given up in the last 24 h (see `tailmark anomalies --deliveries`); the last: anomaly a0, expired at 2026-10-31T16:00:00Z: not accepted for too long',
    ]);
    for (const outcome of ['refused', 'refused', 'failed'] as const) {
      watch.recorded({ ...row, outcome });
    }
    expect(watch.notes()).toEqual([
      'alert: 2 events to pager were given up in the last 24 h (see `tailmark anomalies --deliveries`); the last: anomaly a1, refused at 2026-11-01T12:00:00Z: 400 no such key',
    ]);
    time.nowMs += 5 * hourMs;
    expect(watch.notes().join()).toContain('an event to pager was given up');
    time.nowMs += 20 * hourMs;
    expect(watch.notes()).toEqual([]);
  });
});
