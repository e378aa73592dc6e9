import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anomalyMessage } from '../../../src/alert/message/anomaly-message.ts';
import { headlineOf } from '../../../src/alert/message/title.ts';
import type { Notice } from '../../../src/alert/receiver.ts';
import { anyNotice } from '../receivers/kit/any-notice.ts';
import { links, noticeOf, richEvent } from '../receivers/kit/notices.ts';

const titleOf = (notice: Notice) => anomalyMessage(notice, 'full', links).title;

describe('the title', () => {
  const modelOf = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      dimension: 'model' as const,
      value: `m${i}`,
      affected: 1,
      total: 1,
    }));
  const scope = { affected: 4, unresolved: 4, total: 9, common: [] };

  it.each([
    [2, 'ranker +1 model'],
    [3, 'ranker +2 models'],
    [5, 'ranker +4 or more models'],
  ])('of an incident over %i models counts the others', (count, name) => {
    const event = { ...richEvent, scope: { ...scope, values: modelOf(count) } };
    expect(titleOf(noticeOf('opened', { event }))).toContain(
      `CRITICAL ${name}, most affected: p99`,
    );
  });

  it('names a stage that is slow itself once, and one that is to blame', () => {
    const evidence = { ...richEvent.evidence, measured_stage: 'queue' };
    expect(titleOf(noticeOf('opened', { event: { ...richEvent, evidence } }))).toBe(
      'CRITICAL ranker, most affected: p99 of queue 512 ms, 2.1x its baseline; since 10:17 UTC; 12 of 24 series',
    );
    const blame = [{ stage: 'unaccounted', excess_ms: 5, share: 1 }];
    expect(titleOf(noticeOf('opened', { event: { ...richEvent, blame } }))).toContain(
      ', blame unaccounted time; ',
    );
  });

  it('of an end says which tail is back where another anomaly keeps the request slow', () => {
    const resolved = {
      ...richEvent,
      recovered: { stage: `decode${'e'.repeat(40)}`, quantile: 0.95 },
    };
    const { scope: _, ...event } = resolved;
    expect(titleOf(noticeOf('resolved', { event }))).toContain(
      `RESOLVED ranker (eu-west-1) p95 of decode${'e'.repeat(25)}… back at its baseline; `,
    );
  });

  it('cuts a long model name before anything that matters', () => {
    const model = 'm'.repeat(4096);
    const members = richEvent.members?.map((member) => ({ ...member, model }));
    const event = { ...richEvent, model, members };
    expect(titleOf(noticeOf('opened', { event }))).toBe(
      'CRITICAL mmmmmmmmmmmmmmmmmmm…, most affected: p99 512 ms, 2.1x its baseline, blame queue; since 10:17 UTC; 12 of 24 series',
    );
  });

  it('of an incident has the numbers of its most affected series', () => {
    const [first] = richEvent.members ?? [];
    if (first === undefined) throw new Error('no members');
    const measured = {
      observed_ms: 900,
      baseline_ms: 210,
      ratio: 4.3,
      stage: 'forward',
      quantile: 0.95,
    };
    const worst = { ...first, ...measured, model: 'embedder', measured_stage: 'forward' };
    const event = { ...richEvent, members: [worst, first] };
    const titles = (['opened', 'risen', 'resolved'] as const).map((change) =>
      titleOf(noticeOf(change, { event })),
    );
    expect(titles).toEqual([
      'CRITICAL embedder, most affected: p95 of forward 900 ms, 4.3x its baseline; since 10:17 UTC; 12 of 24 series',
      'CRITICAL (was warning) embedder, most affected: p95 of forward 900 ms, 4.3x its baseline; since 10:17 UTC; 12 of 24 series',
      expect.stringMatching(/^RESOLVED ranker p99 back at its baseline; /),
    ]);
  });

  it.each([
    [
      'alone',
      undefined,
      'CRITICAL ranker (eu-west-1, cold starts) p99 512 ms',
      'RESOLVED ranker (eu-west-1, cold starts) p99',
    ],
    [
      'the worst of several',
      richEvent.scope,
      'CRITICAL ranker, most affected (cold starts): p99 512 ms',
      'RESOLVED ranker p99',
    ],
  ])('says that a series is of cold starts: %s', (_, scope, opened, resolved) => {
    const { members: all = [], scope: _scope, ...alone } = { ...richEvent, cold_start: true };
    const members = all.map((member) => ({ ...member, cold_start: true }));
    const event = scope === undefined ? alone : { ...alone, scope, members };
    expect(titleOf(noticeOf('opened', { event }))).toContain(opened);
    const ended = { ...event, state: 'resolved' as const, resolution: 'recovered' as const };
    expect(titleOf(noticeOf('resolved', { event: ended }))).toContain(resolved);
  });

  it.each([
    [{ region: 'eu-west-1' }, ' (eu-west-1)'],
    [{ region: 'r'.repeat(30) }, ` (${'r'.repeat(19)}…)`],
    [{ region: '' }, ' (search)'],
    [{ region: '', request_type: '' }, ' (2026-11-01)'],
    [{ region: '', request_type: '', version: '' }, ''],
  ])('tells one series from others of its model: %j', (series, place) => {
    const { scope: _, members: __, ...alone } = { ...richEvent, ...series };
    const titles = [
      titleOf(noticeOf('opened', { event: alone })),
      titleOf(noticeOf('resolved', { event: { ...alone, resolution: 'recovered' } })),
      headlineOf(alone),
    ];
    const [opened, resolved, headline] = titles;
    expect(opened).toContain(`CRITICAL ranker${place} p99 512 ms, `);
    expect(resolved).toContain(`RESOLVED ranker${place} p99 back at its baseline; `);
    expect(headline).toContain(`ranker${place} p99 512 ms, `);
  });

  it('of an incident has a region that all its series have and others do not', () => {
    if (richEvent.scope === undefined) throw new Error('no scope');
    const common = [
      { dimension: 'version' as const, value: '2026-11-01' },
      { dimension: 'region' as const, value: 'us-east-1' },
    ];
    const titlesWith = (scope: NonNullable<typeof richEvent.scope>) => [
      titleOf(noticeOf('opened', { event: { ...richEvent, scope } })),
      titleOf(noticeOf('resolved', { event: { ...richEvent, scope } })),
    ];
    expect(titlesWith({ ...richEvent.scope, common })).toEqual([
      expect.stringMatching(/^CRITICAL ranker \(us-east-1\), most affected: p99 512 ms, /),
      expect.stringMatching(/^RESOLVED ranker \(us-east-1\) p99 back at its baseline; /),
    ]);
    expect(titlesWith({ ...richEvent.scope, common: common.slice(0, 1) })).toEqual([
      expect.stringMatching(/^CRITICAL ranker, most affected: p99 512 ms, /),
      expect.stringMatching(/^RESOLVED ranker p99 back at its baseline; /),
    ]);
  });

  it('says that a new baseline is that of the last of several series', () => {
    const event = { ...richEvent, state: 'resolved' as const, resolution: 'rebaselined' as const };
    expect(titleOf(noticeOf('resolved', { event }))).toContain(
      'RESOLVED ranker, last series: p99 412 ms is now the baseline (was 244 ms)',
    );
  });

  it('has the state and the size in its first 80 characters, whatever the names are', () => {
    fc.assert(
      fc.property(anyNotice, (notice) => {
        const title = titleOf(notice);
        expect([...title].length).toBeLessThanOrEqual(150);
        const start = [...title].slice(0, 80).join('');
        expect(start).toMatch(/^(TEST )?(CRITICAL|WARNING|INFO|RESOLVED|ENDED) /);
        expect(start.startsWith('TEST ')).toBe(notice.isTest);
      }),
    );
    const long = { model: 'm'.repeat(99), stage: 's'.repeat(99) };
    const evidence = { ...richEvent.evidence, measured_stage: 's'.repeat(99) };
    for (const change of ['opened', 'risen', 'past'] as const) {
      const event = { ...richEvent, ...long, evidence };
      expect(titleOf(noticeOf(change, { event, isTest: true })).slice(0, 80)).toContain('p99 of s');
    }
  });
});
