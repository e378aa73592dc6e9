import { describe, expect, it } from 'vitest';
import { type Explanation, renderExplanation } from '../../../src/cli/text/render-explanation.ts';
import type { Rate } from '../../../src/contract/anomaly-event.ts';
import { durationText } from '../../../src/contract/format.ts';
import { scopeMember } from '../../../src/contract/scope-member.ts';
import type { TailAtLengths } from '../../../src/views/answers/lengths.ts';
import { odds } from '../../../src/views/text/format.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';

const plain = { color: false };
const minute = (n: number) => Date.parse('2026-11-01T11:55:00Z') + n * 60_000;

const opened = anomalyFixture({ summary: 'p99 of ranker is 412 ms, 3.4x its baseline of 121 ms' });
const resolved = anomalyFixture({
  ...opened,
  revision: 2,
  state: 'resolved',
  resolution: 'recovered',
  emitted_at: '2026-11-01T12:09:30.000Z',
  resolved_at: '2026-11-01T12:09:30.000Z',
  summary: 'p99 of ranker recovered',
});

const whole: Explanation = {
  events: [opened, resolved],
  timeline: [121, 118, 124, 120, 122, 380, 420, 410, 300, 118].map((quantile_ms, n) => ({
    at_ms: minute(n),
    step_seconds: 60,
    requests: 600,
    failed: 0,
    cold_starts: 0,
    quantile_ms,
  })),
  drivers: [
    {
      facet: 'host',
      value: 'pod-7',
      share_of_slow: 0.71,
      share_of_all: 0.08,
      baseline_share_of_all: 0.1,
      slow_rate: 0.44,
      slow_rate_of_others: 0.0158,
      baseline_slow_rate: 0.01,
      baseline_slow_rate_of_others: 0.0098,
    },
    {
      facet: 'cache_hit',
      value: 'miss',
      share_of_slow: 1,
      share_of_all: 0.2,
      baseline_share_of_all: 0.1,
      slow_rate: 0.25,
      slow_rate_of_others: 0,
      baseline_slow_rate: 0,
      baseline_slow_rate_of_others: 0,
    },
  ],
  mix: null,
  members: [],
  lengths: null,
  slowest: [
    {
      event_ms: Date.parse('2026-11-01T12:01:02.345Z'),
      total_ms: 2_412,
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
      request_id: 'req-1',
      host: 'pod-7',
      status: 'ok',
      stages_ms: { queue: 12, features: 2_301, forward: 51 },
    },
  ],
};

describe('an anomaly explained', () => {
  it('shows the slow stages, the event history, the drivers, and the evidence', () => {
    expect(renderExplanation(whole, plain, minute(60))).toMatchInlineSnapshot(`
      "resolved (recovered), critical  p99 of ranker recovered
        series:  ranker, search, eu-west-1
        since:   2026-11-01 12:00:00Z
        noticed: 2026-11-01 12:00:22Z, resolved 2026-11-01 12:09:30Z
        id:      0123456789abcdef0123456789abcdef

      Timeline of p99 of total
        ▃▃▃▃▃███▆▃
        2026-11-01 11:55:00Z to 2026-11-01 12:04:00Z in steps of 60 s; 118 ms to 420 ms, baseline 121 ms

      Mean excess of the slowest 1 % over the baseline, by stage
        stage     mean excess  share
        features      +253 ms   87 %  ████████████████████
        queue          +38 ms   13 %  ███
        slowest 1 %: mean +291 ms; bottleneck: feature

      Drivers of slow requests
        value           share of slow  share of all  baseline share  slow rate  slow rate of others  baseline slow rate
        host pod-7               71 %         8.0 %            10 %       44 %                1.6 %               1.0 %
        cache_hit miss          100 %          20 %            10 %       25 %                  0 %                 0 %

      Evidence
        140 of 1,200 requests were slower than the slowest 1 % of normal, 121 ms; 12 were expected
        p99: 412 ms (95 % interval 371 ms to 460 ms), 3.4x its baseline of 121 ms
        baseline: 2026-11-01 11:00:00Z to 2026-11-01 11:58:50Z
        probability on a normal day: at most 1 in 10^18
        threshold from the page budget: 1 in 50 million
        dispersion: 1.7x the variance of independent requests; the probability allows for it
        windows: 2, and 351 of the baseline

      Slowest requests
        at                       total  most of it         host   status  trace
        2026-11-01 12:01:02Z  2,412 ms  features 2,301 ms  pod-7  ok      4bf92f3577b34da6a3ce929d0e0e4736

      Event history
        2026-11-01 12:00:22Z opened, critical: p99 of ranker is 412 ms, 3.4x its baseline of 121 ms
        2026-11-01 12:09:30Z resolved, critical: p99 of ranker recovered

      SQL query
        SELECT 1
      "
    `);
  });

  it('over several series lists them, those beyond twelve by number', () => {
    const scope = { affected: 14, unresolved: 13, total: 20, common: [], values: [] };
    const members = Array.from({ length: 14 }, (_, n) =>
      anomalyFixture({
        ...{ region: `region-${n}`, version: 'v2', incident_id: opened.id },
        ...(n === 0 ? { resolved_at: '2026-11-01T12:03:00.000Z', state: 'resolved' } : {}),
      }),
    );
    const events = [anomalyFixture({ scope })];
    const text = renderExplanation({ ...whole, events, members }, plain, minute(60));
    expect(text).toContain('14 of 20 series affected, 13 not recovered\n');
    expect(text).toContain(
      'ranker, v2, search, region-1   features  p99 of total    412 ms    121 ms   3.4x  –      2026-11-01 12:00:00Z  open\n',
    );
    expect(text).toContain(
      'ranker, v2, search, region-12  features  p99 of total    412 ms    121 ms   3.4x  –      2026-11-01 12:00:00Z  open\n  … 2 more\n',
    );
    const part = renderExplanation({ ...whole, events: [members[1]!] }, plain, minute(60));
    expect(part).toContain(`  part of: incident ${opened.id}\n`);
  });

  it('says when each series fell and when that was noticed, of series that joined since too', () => {
    const scope = { affected: 2, unresolved: 2, total: 20, common: [], values: [] };
    const incident_id = opened.id;
    const [first, second, joined] = ['eu', 'us', 'ap'].map((region) =>
      anomalyFixture({ region, incident_id }),
    );
    if (!first || !second || !joined) throw new Error('no series');
    const events = [anomalyFixture({ scope, members: [first, second].map((e) => scopeMember(e)) })];
    const ended_at = '2026-11-01T12:03:00.000Z';
    const resolved_at = '2026-11-01T12:05:10.000Z';
    const recovered = { ...first, state: 'resolved' as const, ended_at, resolved_at };
    const members = [{ ...joined, ratio: 40 }, second, recovered];
    const text = renderExplanation({ ...whole, events, members }, plain, minute(60));
    expect(text.slice(text.indexOf('2 of 20'), text.indexOf('Drivers'))).toBe(
      `2 of 20 series affected at the last update, 3 now, 2 not recovered
  series              blame     measured      observed  baseline  ratio  as of  since                 until                 resolved
  ranker, search, eu  features  p99 of total    412 ms    121 ms   3.4x  –      2026-11-01 12:00:00Z  2026-11-01 12:03:00Z  2026-11-01 12:05:10Z
  ranker, search, us  features  p99 of total    412 ms    121 ms   3.4x  –      2026-11-01 12:00:00Z  open
  ranker, search, ap  features  p99 of total    412 ms    121 ms    40x  –      2026-11-01 12:00:00Z  open

`,
    );
  });

  it('shows the parts of larger and of slower requests', () => {
    const mix = { facet: 'batch_size', excess: 0.2, mix: 0.144, slowdown: 0.056, share: 0.72 };
    expect(renderExplanation({ ...whole, mix }, plain, minute(60))).toContain(`
Traffic mix
  the part of all requests that exceeds the baseline percentile grew by 20 percentage points (by batch_size):
  72 % of the rise comes from more large requests, 28 % from slower requests of the same size
`);
  });

  it('says what the tail would be with answers as long as before', () => {
    const text = 'p99 of total is 15.9 s; with answers as long as before the incident …';
    const unshown = { ms: null, at_lengths_ms: null, earlier_ms: null, error: null };
    const of = (lengths: Pick<TailAtLengths, 'text' | 'reason'>) =>
      renderExplanation(
        { ...whole, lengths: { q: 0.99, ...unshown, earlier: null, ...lengths } },
        plain,
        minute(60),
      );
    expect(of({ text, reason: null })).toContain(`\nTraffic mix\n  ${text}\n`);
    expect(of({ text: null, reason: 'same_lengths' })).not.toContain('Traffic mix');
  });

  it('of tailmark itself has its events and no numbers of a series', () => {
    const summary = 'tailmark is 66 s behind: ClickHouse does not respond';
    const event = anomalyFixture({
      kind: 'pipeline',
      model: '',
      request_type: '',
      region: '',
      summary,
    });
    const text = renderExplanation({ ...whole, events: [event] }, plain, minute(10));
    expect(text.split('\n').filter((line) => /^\S/.test(line))).toEqual([
      `open, critical  ${summary}`,
      'Event history',
    ]);
    expect(text).not.toContain('series:');
  });

  it('that is open lasts until now, and leaves out absent fields', () => {
    const text = renderExplanation(
      {
        events: [opened],
        timeline: [],
        drivers: [],
        mix: null,
        members: [],
        slowest: [],
        lengths: null,
      },
      plain,
      Date.parse(opened.started_at) + 3 * 3_600_000,
    );
    expect(text).toContain(
      'since:   2026-11-01 12:00:00Z\n  noticed: 2026-11-01 12:00:22Z, 3 h ago\n  look:    the feature store: its latency, timeouts and cache hits\n',
    );
    expect(text).not.toMatch(/Timeline|Drivers|Slowest requests/);
  });

  it('with many events shows the first and the last ones', () => {
    const events = Array.from({ length: 20 }, (_, n) => ({ ...opened, summary: `event ${n}` }));
    const text = renderExplanation({ ...whole, events }, plain, minute(60));
    expect(text).toContain('event 0\n  … 12 more updates\n');
    expect(text.match(/: event \d+/g)).toHaveLength(8);
    expect(text).toContain('event 19');
  });

  it('escapes control characters in a series’ names', () => {
    const evil = 'pod\u001b[2J';
    const slowest = [{ ...whole.slowest[0], host: evil }] as Explanation['slowest'];
    const events = [{ ...resolved, model: evil, summary: evil, sql: evil, stage: evil }];
    const text = renderExplanation({ ...whole, slowest, events }, plain, minute(60));
    expect(text).not.toContain('\u001b');
    expect(text.match(/pod\\u001b\[2J/g)).toHaveLength(5);
  });
});

describe('an anomaly of a rate explained', () => {
  const failing = anomalyFixture({
    kind: 'error_rate',
    stage: 'total',
    blame: [],
    bottleneck: 'unknown',
    observed_ms: 123,
    baseline_ms: 121,
    ratio: 123 / 121,
    rate: {
      unit: 'failures per request',
      observed: 0.048,
      baseline: 0.002,
      ratio: 24,
      interval: [0.037, 0.062],
    },
    evidence: { ...opened.evidence, test: 'likelihood_ratio', exceedances: 58, expected: 2.4 },
    summary: 'ranker (search, eu-west-1): 4.8 % of requests fail (baseline 0.2 %)',
  });
  const timeline = [0, 1, 0, 1, 0, 29, 28, 30].map((failed, n) => {
    const counts = { requests: 600, failed, cold_starts: n };
    return { at_ms: minute(n), step_seconds: 60, ...counts, quantile_ms: 121 };
  });
  const explained = {
    events: [failing],
    timeline,
    drivers: [],
    mix: null,
    members: [],
    slowest: [],
    lengths: null,
  };

  it('shows how many requests fail and the evidence, and blames no stage', () => {
    expect(renderExplanation(explained, plain, minute(60))).toMatchInlineSnapshot(`
      "open, critical  ranker (search, eu-west-1): 4.8 % of requests fail (baseline 0.2 %)
        series:  ranker, search, eu-west-1
        since:   2026-11-01 12:00:00Z
        noticed: 2026-11-01 12:00:22Z, 55 min ago
        look:    error logs and releases since the start
        id:      0123456789abcdef0123456789abcdef

      Timeline of failed requests
        ▁▁▁▁▁███
        2026-11-01 11:55:00Z to 2026-11-01 12:02:00Z in steps of 60 s; 0 % to 5 %, baseline 0.2 %

      Evidence
        58 of 1,200 requests failed; 2 were expected
        rate: 4.8 % (95 % interval 3.7 % to 6.2 %), baseline 0.2 %
        baseline: 2026-11-01 11:00:00Z to 2026-11-01 11:58:50Z
        probability on a normal day: at most 1 in 10^18
        threshold from the page budget: 1 in 50 million
        dispersion: 1.7x the variance expected by chance; the probability allows for it
        windows: 2, and 351 of the baseline

      Event history
        2026-11-01 12:00:22Z opened, critical: ranker (search, eu-west-1): 4.8 % of requests fail (baseline 0.2 %)

      SQL query
        SELECT 1
      "
    `);
  });

  it('of cold starts shows their number', () => {
    const rate = { ...(failing.rate as Rate), unit: 'cold starts per request' } as const;
    const waking = anomalyFixture({ ...failing, kind: 'cold_starts', rate });
    const text = renderExplanation({ ...explained, events: [waking] }, plain, minute(60));
    expect(text).toContain('Timeline of cold starts\n  ▁▂▃▄▅▆▇█\n');
    expect(text).toContain('; 0 % to 1.2 %, baseline 0.2 %\n');
    expect(text).toContain('58 of 1,200 requests were cold starts; 2 were expected\n');
  });

  it('of a drift shows the week before, and the number of hours', () => {
    const drifting = anomalyFixture({
      ...{ kind: 'drift', severity: 'info', version: '', quantile: 0.95, stage: 'forward' },
      ...{ observed_ms: 132, interval_ms: [129, 135], baseline_ms: 101, ratio: 1.31 },
      requests: 259_200,
      summary:
        'p95 of ranker (search) was 132 ms over the last day, 1.31x its baseline of 101 ms (same hours a week before); forward explains 97 % of it',
      blame: [
        { stage: 'forward', excess_ms: 20, share: 0.97 },
        { stage: 'queue', excess_ms: 0.6, share: 0.03 },
      ],
      bottleneck: 'compute',
      evidence: {
        ...{ test: 'hourly_ratios', p_value: 2e-9, alpha: 7e-5, windows: 8_640 },
        ...{ exceedances: 23, expected: 12, dispersion: 1.6, measured_stage: 'total' },
        baseline_windows: 8_640,
        baseline_from: '2026-10-25T12:00:00.000Z',
        baseline_to: '2026-10-26T12:00:00.000Z',
      },
    });
    const explanation = { ...explained, events: [drifting] };
    expect(renderExplanation(explanation, plain, minute(60))).toMatchInlineSnapshot(`
      "open, info  p95 of ranker (search) was 132 ms over the last day, 1.31x its baseline of 101 ms (same hours a week before); forward explains 97 % of it
        series:  ranker, search, eu-west-1
        since:   2026-11-01 12:00:00Z
        noticed: 2026-11-01 12:00:22Z, 55 min ago
        look:    accelerator and CPU load, batch sizes, and what was released last; then releases and data growth of the last week
        id:      0123456789abcdef0123456789abcdef

      Timeline of p95 of total
        ████████
        2026-11-01 11:55:00Z to 2026-11-01 12:02:00Z in steps of 60 s; 121 ms to 121 ms, baseline 101 ms

      Mean excess of a request over the week before, by stage
        stage    mean excess  share
        forward       +20 ms   97 %  ████████████████████
        queue        +0.6 ms    3 %  █
        requests of a day: mean +20.6 ms; bottleneck: compute

      Evidence
        23 of 24 hours were slower than the same hour a week before; the p95 of the median hour grew 1.31x
        p95: 132 ms (95 % interval 129 ms to 135 ms) over the last day, baseline 101 ms
        baseline: 2026-10-25 12:00:00Z to 2026-10-26 12:00:00Z
        probability in a normal week: at most 1 in 500 million
        threshold from the page budget: 1 in 14,300
        autocorrelation: an hour counts as 0.63 independent hours

      Event history
        2026-11-01 12:00:22Z opened, info: p95 of ranker (search) was 132 ms over the last day, 1.31x its baseline of 101 ms (same hours a week before); forward explains 97 % of it

      SQL query
        SELECT 1
      "
    `);
  });

  it('of traffic shows its amount', () => {
    const rate = { observed: 12, baseline: 51, ratio: 12 / 51, interval: [11, 13] } as const;
    const stopped = anomalyFixture({
      ...failing,
      kind: 'throughput_drop',
      rate: { unit: 'requests per second', ...rate, interval: [11, 13] },
      evidence: { ...failing.evidence, exceedances: 7_200, expected: 30_600 },
    });
    const text = renderExplanation({ ...explained, events: [stopped] }, plain, minute(60));
    expect(text).toContain('Timeline of traffic\n  ████████\n');
    expect(text).toContain('10/s to 10/s, baseline 51/s');
    expect(text).toContain('7,200 requests arrived; 30,600 were expected\n');
    expect(text).toContain('rate: 12/s (95 % interval 11/s to 13/s), baseline 51/s');
  });

  it('of an objective shows the objective and the broken rule', () => {
    const burning = anomalyFixture({
      ...failing,
      kind: 'slo_burn',
      rate: {
        unit: 'errors per request',
        observed: 0.03,
        baseline: 0.001,
        ratio: 30,
        interval: [0.028, 0.032],
      },
      slo: {
        name: 'search is fast',
        objective: 0.999,
        threshold_ms: 200,
        burn_rate: 14.4,
        long_ms: 3_600_000,
        short_ms: 300_000,
      },
      requests: 36_000,
      evidence: { ...failing.evidence, test: 'burn_rate', exceedances: 1_080, expected: 36 },
    });
    const text = renderExplanation({ ...explained, events: [burning] }, plain, minute(60));
    expect(text).toContain('Timeline of p99 of total');
    expect(text).toContain('121 ms to 121 ms, baseline 121 ms');
    expect(text).toContain(
      [
        'Evidence',
        '  1,080 of 36,000 requests in 60 min were bad; 36 were allowed',
        '  objective: 99.9 % of requests take at most 200 ms and do not fail (search is fast)',
        '  bad requests: 3 % (95 % interval 2.8 % to 3.2 %), 30x the allowed share',
        '  burn rate threshold: 14.4x, over 60 min and over the last 5 min',
        '',
      ].join('\n'),
    );
  });
});

describe('odds', () => {
  it.each([
    [0.5, '1 in 2'],
    [3.4e-6, '1 in 294,000'],
    [2.93e-9, '1 in 341 million'],
    [4e-12, '1 in 250 billion'],
    [1e-13, '1 in 10 trillion'],
    [3e-19, '1 in 10^18'],
    [0, 'nil'],
  ])('of %d are %s', (p, text) => expect(odds(p)).toBe(text));
});

describe('a duration', () => {
  it.each([
    [-5, '0 s'],
    [119_400, '119 s'],
    [120_000, '2 min'],
    [3 * 3_600_000 + 1_200_000, '3 h 20 min'],
    [51 * 3_600_000, '2 d 3 h'],
    [48 * 3_600_000, '2 d'],
  ])('of %d ms is %s', (ms, text) => expect(durationText(ms)).toBe(text));
});
