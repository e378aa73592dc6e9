import { expect, it } from 'vitest';
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
