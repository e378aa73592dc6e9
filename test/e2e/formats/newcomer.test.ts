import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import { afterEach, expect, it } from 'vitest';
import { useStack } from '../../containers/stack.ts';
import { protoOf } from '../../formats/otlp/oracle.ts';
import { poll } from '../kit/poll.ts';
import { type Child, startChild } from '../kit/start-child.ts';
import { llmSpans } from './llm-spans.ts';

useStack(); // Skips this test, with the reason, where the machine lacks Java, Maven or chdb.

const page = readFileSync(new URL('../../../docs/how-to/formats.md', import.meta.url), 'utf8');
const configuration =
  /<!-- newcomer: .*-->\n```yaml\n([\s\S]*?)```\n<!-- \/newcomer -->/.exec(page)?.[1] ?? '';

const dir = mkdtempSync(join(tmpdir(), 'tailmark-newcomer-'));
const children: Child[] = [];
afterEach(async () => {
  for (const child of children.reverse()) {
    child.signal('SIGTERM');
    await child.exited;
  }
  rmSync(dir, { recursive: true, force: true });
});

function start(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Child {
  const child = startChild(argv, env);
  children.push(child);
  return child;
}

it('A newcomer with spans of vLLM sees the stages of its model, by the page alone', async () => {
  expect(configuration.trim().split('\n').length).toBeLessThanOrEqual(10);
  const config = join(dir, 'tailmark.yaml');
  writeFileSync(config, configuration);

  const up = start(['up', '--dir', join(dir, 'stack'), '--config', config]);
  const ready = await poll(
    'tailmark up is ready',
    () => {
      const found = [...up.out().matchAll(/^ {2}export (\w+)=(.+)$/gm)];
      return found.length === 2 ? found : undefined;
    },
    { deadlineMs: 120_000, seen: () => up.err() },
  );
  const env = Object.fromEntries(ready.map(([, name, value]) => [name, value])) as Record<
    string,
    string
  >;

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
  const recommended = [...up.out().matchAll(/^ {2}tailmark (\w+)/gm)].map(([, name]) => name);
  expect(recommended).toEqual(['run', 'tails']);
}, 300_000);
