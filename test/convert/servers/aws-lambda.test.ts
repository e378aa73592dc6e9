import { expect, it } from 'vitest';
import { awsLambda } from '../../../src/convert/servers/aws-lambda.ts';
import { convertFixtures, convertText, expectedEvents, rounded } from '../converted.ts';

it('converts a warm invocation, a cold start and a timeout', async () => {
  const { events, rejected, skipped } = await convertFixtures(awsLambda, [
    'aws-lambda/cloudwatch_log_lambda_invocation.json',
    'aws-lambda/cloudwatch_log_coldstart.json',
    'aws-lambda/cloudwatch_log_timeout.json',
  ]);
  expect(events.map(rounded)).toEqual(expectedEvents('aws-lambda.ndjson'));
  expect({ rejected, skipped }).toEqual({ rejected: [], skipped: 0 });
});

const batch = (...messages: readonly string[]) =>
  JSON.stringify({
    logGroup: '/aws/lambda/ranker',
    logEvents: messages.map((message) => ({ timestamp: 1_790_000_000_500, message })),
  });

it('places an invocation by its REPORT line where START is in an earlier batch', async () => {
  const { events } = await convertText(
    awsLambda,
    batch('REPORT RequestId: a\tDuration: 100.25 ms\tStatus: error\tError Type: X'),
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

it.each([
  ['{"logGroup":', 'invalid_json: A batch of text must be JSON: it is not JSON'],
  ['garbage', 'invalid_json: A batch of text must be JSON: it is not JSON'],
  [
    '{"logGroup":1,"logEvents":{}}',
    'invalid_json: A batch of text must have logGroup, a text, and logEvents, a list',
  ],
  [
    batch('REPORT RequestId: a\tDuration: fast'),
    'missing_durations: A REPORT line of text must have a Duration in ms: it is "REPORT RequestId: a\\tDuration: fast"',
  ],
])('rejects %s, and converts what follows', async (text, reason) => {
  const isBroken = text === '{"logGroup":' || text === 'garbage';
  const good = batch('REPORT RequestId: b\tDuration: 1 ms');
  const { events, rejected } = await convertText(awsLambda, isBroken ? text : `${text}\n${good}`);
  expect(rejected).toEqual([reason]);
  expect(events.map(({ id }) => id)).toEqual(isBroken ? [] : ['b']);
});
