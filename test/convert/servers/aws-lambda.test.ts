// Covers src/convert/servers/lambda/invocation-event.ts, src/convert/servers/lambda/lambda-line.ts
// and src/convert/servers/lambda/sandbox.ts.

import { describe, expect, it } from 'vitest';
import { awsLambda } from '../../../src/convert/servers/aws-lambda.ts';
import { convert, expectedEvents, expectSameEvents, fixture, textFile } from '../conversion.ts';

it('converts a warm invocation, a cold start and a timeout', async () => {
  const files = [
    'aws-lambda/cloudwatch_log_lambda_invocation.json',
    'aws-lambda/cloudwatch_log_coldstart.json',
    'aws-lambda/cloudwatch_log_timeout.json',
  ];
  const { events, rejects, skipped } = await convert(awsLambda, files.map(fixture));
  expectSameEvents(events, expectedEvents('aws-lambda'));
  expect({ rejects, skipped }).toEqual({ rejects: [], skipped: 0 });
});

const batch = (...messages: readonly string[]) =>
  JSON.stringify({
    messageType: 'DATA_MESSAGE',
    logGroup: '/aws/lambda/ranker',
    logEvents: messages.map((message) => ({ timestamp: 1_790_000_000_500, message })),
  });

it('places an invocation by its REPORT line where START is in an earlier batch', async () => {
  const { events } = await convert(
    awsLambda,
    textFile(batch('REPORT RequestId: a\tDuration: 100.25 ms\tStatus: error\tError Type: X')),
  );
  expect(events).toEqual([
    {
      ts: 1_790_000_000_400,
      model: 'ranker',
      id: 'a',
      cold_start: false,
      status: 'error',
      total_ms: 100.25,
      stages_ms: { forward: 100.25 },
    },
  ]);
});

const good = batch('REPORT RequestId: b\tDuration: 1 ms');

it.each([
  ['{"messageType":', 'invalid_json: A batch of text must be JSON: it is not JSON'],
  [good.slice(0, -30), 'invalid_json: A batch of text must be JSON: it is not JSON'],
  ['garbage', 'invalid_json: A batch of text must be JSON: it is not JSON'],
  [
    '{"messageType":"x","logGroup":1,"logEvents":{}}',
    'invalid_json: A batch of text must have logGroup, a text, and logEvents, a list',
  ],
  [
    batch('REPORT RequestId: a\tDuration: fast'),
    'missing_durations: A REPORT line of text must have a Duration in ms: it is "REPORT RequestId: a\\tDuration: fast"',
  ],
])('rejects %s, and nothing of what follows', async (text, reason) => {
  const { events, rejects } = await convert(awsLambda, textFile(`${text}\n${good}\n`));
  expect(rejects.map((each) => `${each.reason}: ${each.detail}`)).toEqual([reason]);
  expect(rejects[0]?.bytes).toBe(text);
  expect(events.map(({ id }) => id)).toEqual(['b']);
});

const ofJson = (type: string, record: object) =>
  JSON.stringify({ time: '2026-01-01T00:00:00.000Z', type: `platform.${type}`, record });

it("reads reports of functions that log JSON, among the function's own lines", async () => {
  const tracing = { type: 'X-Amzn-Trace-Id', value: 'Root=1-5759e988-bd862e3f;Parent=5;Sampled=1' };
  const metrics = { durationMs: 101.5, billedDurationMs: 102, memorySizeMB: 128 };
  const text = batch(
    ofJson('initStart', { functionName: 'ranker', phase: 'init' }),
    ofJson('start', { requestId: 'a', version: '$LATEST' }),
    '{"level":"INFO","message":"type\\tplatform.report","requestId":"a"}',
    ofJson('runtimeDone', { requestId: 'a', status: 'success', metrics: { durationMs: 99 } }),
    ofJson('report', {
      ...{ requestId: 'a', status: 'success', tracing },
      metrics: { ...metrics, initDurationMs: 250.5 },
    }),
    ofJson('report', { requestId: 'b', status: 'timeout', metrics }),
    ofJson('report', { requestId: 'c', status: 'failure', metrics }),
    ofJson('report', { requestId: 'd', status: 'success', metrics: {} }),
  );
  const { events, rejects } = await convert(awsLambda, textFile(text));
  const common = { model: 'ranker', cold_start: false, total_ms: 101.5 };
  expect(events).toEqual([
    {
      ...{ ts: 1_790_000_000_250, model: 'ranker', id: 'a', trace_id: '1-5759e988-bd862e3f' },
      ...{ cold_start: true, status: 'ok', total_ms: 352 },
      stages_ms: { init: 250.5, forward: 101.5 },
    },
    { ...common, ts: 1_790_000_000_399, id: 'b', status: 'timeout', stages_ms: { forward: 101.5 } },
    { ...common, ts: 1_790_000_000_399, id: 'c', status: 'error', stages_ms: { forward: 101.5 } },
  ]);
  expect(rejects.map(({ reason }) => reason)).toEqual(['missing_durations']);
});

it('counts what SnapStart restores, and what ends before its report says so', async () => {
  const text = batch(
    'START RequestId: a Version: 3',
    'REPORT RequestId: a\tDuration: 10 ms\tRestore Duration: 500.25 ms\tBilled Restore Duration: 9 ms',
    'RequestId: b Error: Runtime exited with error: signal: killed\nRuntime.ExitError\n',
    'REPORT RequestId: b\tDuration: 20 ms',
    'RequestId: c Process exited before completing request',
    'REPORT RequestId: c\tDuration: 30 ms',
  );
  const { events } = await convert(awsLambda, textFile(text));
  expect(events).toMatchObject([
    {
      ...{ ts: 1_790_000_000_000, cold_start: true, status: 'ok', total_ms: 510.25 },
      stages_ms: { restore: 500.25, forward: 10 },
    },
    { id: 'b', cold_start: false, status: 'error', total_ms: 20 },
    { id: 'c', cold_start: false, status: 'error', total_ms: 30 },
  ]);
});

it('reads batches on one line, and functions that share a log group', async () => {
  const shared = good.replace(
    '"logGroup":"/aws/lambda/ranker"',
    '"logGroup":"/team/all","logStream":"2026/01/01/parser[$LATEST][5f]"',
  );
  const { events, rejects } = await convert(awsLambda, textFile(`${good}${shared}${good}`));
  expect(rejects).toEqual([]);
  expect(events.map(({ model }) => model)).toEqual(['ranker', 'parser', 'ranker']);
});

const T = 1_790_000_000_000;

/** Lines of a sandbox with their times after T, as one batch. */
const stream = (lines: readonly (readonly [afterMs: number, message: string])[], name = 's') =>
  JSON.stringify({
    messageType: 'DATA_MESSAGE',
    logGroup: '/aws/lambda/ranker',
    logStream: name,
    logEvents: lines.map(([afterMs, message]) => ({ timestamp: T + afterMs, message })),
  });
const start = (id: string) => `START RequestId: ${id} Version: 12\n`;
const report = (id: string, fields: string) => `REPORT RequestId: ${id}\t${fields}\t\n`;
const platform = (type: string, record: object) =>
  JSON.stringify({ time: '2026-01-01T00:00:00.000Z', type: `platform.${type}`, record });

/** What tells the events apart. */
async function requestsOf(...batches: readonly string[]) {
  const { events, rejects } = await convert(awsLambda, textFile(batches.join('\n')));
  expect(rejects).toEqual([]);
  return events.map(({ id, ts, cold_start, status, total_ms, stages_ms }) => [
    id,
    Number(ts) - T,
    cold_start ? 'cold' : 'warm',
    status,
    total_ms,
    stages_ms,
  ]);
}

describe('attempts under one request id', () => {
  const attempt = (atMs: number, isTimeout: boolean) => [
    [atMs, start('r')] as const,
    ...(isTimeout
      ? [
          [
            atMs + 3_000,
            '2026-09-21T13:33:20.000Z r Task timed out after 3.00 seconds\n\n',
          ] as const,
        ]
      : []),
    [atMs + 3_000, 'END RequestId: r\n'] as const,
    [atMs + 3_000, report('r', `Duration: ${isTimeout ? 3000 : 140}.00 ms`)] as const,
  ];
  const three = [
    ['r', 0, 'warm', 'timeout', 3_000, { forward: 3_000 }],
    ['r', 62_000, 'warm', 'timeout', 3_000, { forward: 3_000 }],
    ['r', 185_000, 'warm', 'ok', 140, { forward: 140 }],
  ];
  const parts = [attempt(0, true), attempt(62_000, true), attempt(185_000, false)];

  it('are an event each, in one batch, in several, and in streams of their own', async () => {
    expect(await requestsOf(stream(parts.flat()))).toEqual(three);
    expect(await requestsOf(...parts.map((lines) => stream(lines)))).toEqual(three);
    expect(await requestsOf(...parts.map((lines, i) => stream(lines, `s${i}`)))).toEqual(three);
  });

  it('are an event each without their START lines, and where a time-out follows its REPORT', async () => {
    const lines = parts.flat().filter(([, message]) => !message.startsWith('START'));
    const timeout = lines.splice(0, 1);
    lines.splice(2, 0, ...timeout);
    expect((await requestsOf(stream(lines))).map((each) => each[3])).toEqual([
      'timeout',
      'timeout',
      'ok',
    ]);
  });

  it('is one event where its lines are in two batches, or of one millisecond in any order', async () => {
    const lines = [
      [7, start('r')],
      [8, '2026-09-21T13:33:20.000Z r Task timed out after 0.00 seconds\n\n'],
      [10, report('r', 'Duration: 3.00 ms')],
    ] as const;
    const expected = [['r', 7, 'warm', 'timeout', 3, { forward: 3 }]];
    expect(await requestsOf(stream(lines.slice(0, 2)), stream(lines.slice(2)))).toEqual(expected);
    const swapped = [
      [7, report('r', 'Duration: 0.50 ms')],
      [7, start('r')],
    ] as const;
    expect(await requestsOf(stream(swapped))).toEqual([
      ['r', 7, 'warm', 'ok', 0.5, { forward: 0.5 }],
    ]);
  });
});

describe('a sandbox that comes up', () => {
  const initStart = 'INIT_START Runtime Version: python:3.13.v50\tRuntime Version ARN: arn\n';
  const withInit = report('a', 'Duration: 60.25 ms\tInit Duration: 8400.50 ms');

  it.each([
    ['ahead of its first request made nobody wait', 300_000, 0, 'warm', 60.25],
    ['half a second before it neither', 8_902, 0, 'warm', 60.25],
    ['for its first request is what that waited for', 8_405, -8_400, 'cold', 8_460.75],
  ])('%s', async (_, aheadMs, startMs, temperature, totalMs) => {
    const stages = { ...(temperature === 'cold' ? { init: 8_400.5 } : {}), forward: 60.25 };
    const expected = [
      ['a', startMs, temperature, 'ok', totalMs, stages],
      ['b', 1_000, 'warm', 'ok', 55, { forward: 55 }],
    ];
    const lines = [
      [0, start('a')],
      [60, withInit],
      [1_000, start('b')],
      [1_055, report('b', 'Duration: 55.00 ms')],
    ] as const;
    const begun = [-aheadMs, initStart] as const;
    expect(await requestsOf(stream([begun, ...lines]))).toEqual(expected);
    // Its line may be in a batch of long before.
    expect(await requestsOf(stream([begun]), stream(lines))).toEqual(expected);
  });

  it('with provisioned concurrency made nobody wait, however short the time', async () => {
    const type = { initializationType: 'provisioned-concurrency', phase: 'init' };
    const reported = { metrics: { durationMs: 60.25, initDurationMs: 300 }, status: 'success' };
    const lines = [
      [-300, platform('initStart', type)],
      [-1, platform('initReport', { ...type, status: 'success', metrics: { durationMs: 300 } })],
      [0, platform('start', { requestId: 'a' })],
      [60, platform('report', { requestId: 'a', ...reported })],
    ] as const;
    expect(await requestsOf(stream(lines))).toEqual([
      ['a', 0, 'warm', 'ok', 60.25, { forward: 60.25 }],
    ]);
    const onDemand = lines.map(
      ([ms, line]) => [ms, line.replace('provisioned-concurrency', 'on-demand')] as const,
    );
    expect(await requestsOf(stream(onDemand))).toEqual([
      ['a', -300, 'cold', 'ok', 360.25, { init: 300, forward: 60.25 }],
    ]);
  });

  it('for longer than 10 s is repeated within the first request, which is cold', async () => {
    const broken = 'INIT_REPORT Init Duration: 9999.63 ms\tPhase: init\tStatus: timeout\n';
    const again = 'INIT_REPORT Init Duration: 12000.25 ms\tPhase: invoke\tStatus: success\n';
    const lines = [
      [-9_999, initStart],
      [0, broken],
      [1, start('a')],
      [14_200, report('a', 'Duration: 14199.20 ms')],
      [22_000, start('b')],
      [22_080, report('b', 'Duration: 80.00 ms')],
    ] as const;
    const warm = ['b', 22_000, 'warm', 'ok', 80, { forward: 80 }];
    expect(await requestsOf(stream(lines))).toEqual([
      ['a', -9_999, 'cold', 'ok', 24_198.83, { init: 9_999.63, forward: 14_199.2 }],
      warm,
    ]);
    const said = [...lines.slice(0, 3), [12_001, again] as const, ...lines.slice(3)];
    expect(await requestsOf(stream(said))).toEqual([
      ['a', -9_999, 'cold', 'ok', 24_198.83, { init: 21_999.88, forward: 2_198.95 }],
      warm,
    ]);
    // Where it broke off ahead of any request, only the repetition is waited for.
    const ahead = [[-99_999, initStart] as const, [-90_000, broken] as const, ...said.slice(2)];
    expect(await requestsOf(stream(ahead))).toEqual([
      ['a', 1, 'cold', 'ok', 14_199.2, { init: 12_000.25, forward: 2_198.95 }],
      warm,
    ]);
  });

  it('once more within a request, as its process has ended before, makes that one cold', async () => {
    const lines = [
      [0, start('a')],
      [1, initStart],
      [900, report('a', 'Duration: 900.00 ms')],
    ] as const;
    expect(await requestsOf(stream(lines))).toEqual([
      ['a', 0, 'cold', 'ok', 900, { forward: 900 }],
    ]);
  });

  it('from a snapshot is waited for as its lines say', async () => {
    const restored = (atMs: number) =>
      [
        [atMs - 700, 'RESTORE_START Runtime Version: java:21\n'],
        [atMs, 'RESTORE_REPORT Restore Duration: 699.50 ms\n'],
        [2, start('a')],
        [12, report('a', 'Duration: 10.00 ms')],
      ] as const;
    expect(await requestsOf(stream(restored(0)))).toEqual([
      ['a', -697, 'cold', 'ok', 709.5, { restore: 699.5, forward: 10 }],
    ]);
    expect(await requestsOf(stream(restored(-5_000)))).toEqual([
      ['a', 2, 'warm', 'ok', 10, { forward: 10 }],
    ]);
  });
});
