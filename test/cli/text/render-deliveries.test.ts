import { expect, it } from 'vitest';
import { renderDeliveries } from '../../../src/cli/text/render-deliveries.ts';
import type { DeliveryStatus } from '../../../src/sink/anomalies/delivery-store.ts';

const row = (changed: Partial<DeliveryStatus>): DeliveryStatus => ({
  ...{ id: 'a', receiver: 'pager', revision: 1, state: 'opened', outcome: 'accepted' },
  ...{ answer: '202 Accepted', attempts: 1, at_ms: Date.UTC(2026, 10, 1, 12, 0, 22) },
  ...changed,
});
const linesOf = (...rows: readonly DeliveryStatus[]) =>
  renderDeliveries(rows, { color: false }).trimEnd().split('\n');
const at = '2026-11-01 12:00:22 UTC';

it('says what became of each delivery, and whether it is tried again', () => {
  expect(
    linesOf(
      row({ attempts: 2 }),
      row({ receiver: 'chat', outcome: 'failed', attempts: 3, answer: '503\nnow' }),
      row({ receiver: 'mail', outcome: 'rejected', answer: '401' }),
      row({ receiver: 'topic', outcome: 'unacceptable', answer: 'too large' }),
      row({ receiver: 'old', outcome: 'refused', attempts: 2, answer: '400' }),
      row({ receiver: 'gone', outcome: 'expired', attempts: 0, answer: '' }),
      row({ revision: 2, state: 'resolved', outcome: 'skipped', attempts: 0, answer: 'muted' }),
    ),
  ).toEqual([
    `  to:     pager  ${at}  opened    accepted, 2 attempts`,
    `          chat   ${at}  opened    not accepted, tried again, 3 attempts: 503\\u000anow`,
    `          mail   ${at}  opened    rejected, tried again every 5 min: check its address, key and rights, 1 attempt: 401`,
    `          topic  ${at}  opened    content refused, sent once more in a short form, 1 attempt: too large`,
    `          old    ${at}  opened    refused, given up, 2 attempts: 400`,
    `          gone   ${at}  opened    expired, given up`,
    `          pager  ${at}  resolved  not sent: muted`,
  ]);
});

it('does not promise another attempt where a later state went instead', () => {
  const [first, second] = linesOf(
    row({ outcome: 'failed', answer: '503' }),
    row({ revision: 2, state: 'resolved' }),
  );
  expect(first).toContain('opened    not accepted, a later state went instead, 1 attempt: 503');
  expect(second).toContain('resolved  accepted, 1 attempt');
});

it('says where to look when nobody was sent anything', () => {
  expect(linesOf()).toEqual([
    '  to:     no receiver yet; `tailmark alert preview ID` says whom it matches',
  ]);
});
