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
