import { Kafka, logLevel } from 'kafkajs';
import { expect, it } from 'vitest';
import { useStack } from '../../containers/stack.ts';
import { protoOf } from '../../formats/otlp/oracle.ts';
import { poll } from '../kit/poll.ts';
import { startChild } from '../kit/start-child.ts';
import { llmSpans } from './llm-spans.ts';
import { useNewcomer } from './use-newcomer.ts';

useStack(); // Skips this test, with the reason, where the machine lacks Java, Maven or chdb.

const newcomer = useNewcomer('formats.md');

it('A newcomer with spans of vLLM sees the stages of its model, by the page alone', async () => {
  const { config, start, up } = newcomer();
  const { env, printed } = await up();

  const [spans = ''] = llmSpans(Date.now()).requests;
  const brokers = [env.TAILMARK_KAFKA_BROKERS as string];
  const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  await producer.send({ topic: 'otlp_spans', messages: [{ value: protoOf(spans) }] });
  await producer.disconnect();

  const run = start(['run', '--config', config], { ...env, TAILMARK_HTTP_LISTEN: '127.0.0.1:0' });
  const table = await poll(
    'tailmark tails shows the model',
    async () => {
      const tails = startChild(['tails', '--config', config, '--since', '1h'], env);
      await tails.exited;
      return tails.out().includes('vllm-server') ? tails.out() : undefined;
    },
    { deadlineMs: 120_000, seen: () => run.err() },
  );
  const row = (stage: string) => new RegExp(`^(vllm-server)? +${stage} +20 `, 'm');
  for (const stage of ['queue', 'prefill', 'decode', 'first_token', 'total']) {
    expect(table).toMatch(row(stage));
  }
  // No topic takes what generate writes.
  const recommended = [...printed().matchAll(/^ {2}tailmark (\w+)/gm)].map(([, name]) => name);
  expect(recommended).toEqual(['run', 'tails']);
}, 300_000);
