import { describe, expect, it } from 'vitest';
import { anomalyMessage } from '../../../src/alert/message/anomaly-message.ts';
import type { Notice } from '../../../src/alert/receiver.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { links, noticeOf, richEvent } from '../receivers/kit/notices.ts';

describe('a message of an open anomaly', () => {
  const measured_at = '2026-11-21T10:28:20.000Z';
  const members = richEvent.members?.map((member, i) => ({
    ...member,
    ...(i === 0 && { measured_at }),
    peak: { observed_ms: 1_200, ratio: 4.92, at: '2026-11-21T10:19:10.000Z' },
  }));
  const { interval_ms, requests, evidence, blame, bottleneck, sql } = richEvent;
  const event: AnomalyEvent = {
    ...{ ...richEvent, emitted_at: '2026-11-21T10:28:39.000Z', measured_at },
    ...(members && { members }),
    worst: { interval_ms, requests, evidence, blame, bottleneck, sql },
    severity_reason: '6 % of all requests affected, 2.1x the baseline; critical from 5 % and 2.0x',
  };
  const factsOf = (change: Notice['change'], of = event) => {
    const { title, facts } = anomalyMessage(noticeOf(change, { event: of }), 'full', links);
    return { title, ...Object.fromEntries(facts.map(({ label, text }) => [label, text])) };
  };

  it('says as of when its numbers are, and how bad it has been', () => {
    expect(factsOf('updated')).toMatchObject({
      title: expect.stringContaining('since 10:17, as of 10:28 UTC'),
      'Most affected': expect.stringMatching(/61,204 requests; as of 10:28:20 UTC$/),
      Peak: '1,200 ms, 4.9x at 2026-11-21 10:19:10 UTC',
      'Other series': expect.stringContaining('us-east-1) was 412 ms, 1.69x, recovered'),
    });
  });

  it.each([
    ['risen', 'rose from warning to critical: 6 % of all requests'],
    ['updated', 'rose to critical: 6 % of all requests'],
  ] as const)('says why its severity rose: %s', (change, text) => {
    expect(factsOf(change)).toMatchObject({ Severity: expect.stringContaining(text) });
  });

  it('has no peak while it has not been worse', () => {
    const first = { ...event, members: members?.map((each) => ({ ...each, measured_at })) ?? [] };
    const [worst, ...others] = first.members;
    if (worst === undefined) throw new Error('no member');
    const asBad = { ...worst, peak: { ...worst.peak, at: measured_at } };
    expect(factsOf('opened', { ...first, members: [asBad, ...others] })).not.toHaveProperty('Peak');
    expect(factsOf('resolved', { ...first, members: [asBad, ...others] })).toHaveProperty('Peak');
  });
});
