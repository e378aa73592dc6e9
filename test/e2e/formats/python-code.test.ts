import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { useStack } from '../../containers/stack.ts';
import { uniqueName } from '../../containers/unique-name.ts';
import { documents } from '../../docs/documents.ts';
import { stageSums } from '../kit/stage-sums.ts';
import { withRig } from '../kit/with-rig.ts';

const stack = useStack();
const python = process.env.PYTHON;
const missing = 'PYTHON names no Python with confluent-kafka and litellm';
if (python === undefined) {
  process.stderr.write(`Python code of the docs is not run: ${missing}\n`);
}
beforeEach((context) => {
  if (python === undefined) context.skip(missing);
});

/** The Python of a page whose first line begins with `# NAME: pip install`. */
function documentedPython(name: string): string {
  const page = documents().find(({ path }) => path === 'docs/how-to/send-events.md')?.text ?? '';
  const block = new RegExp(`\`\`\`python\n# ${name}: pip install (.*)\n([\\s\\S]*?)\`\`\``).exec(
    page,
  );
  if (block === null) throw new Error(`the page has no ${name}`);
  return block[2] ?? '';
}

/**
 * Runs a program of Python files, the last one, as a process of its own. Its standard input ends once `until`
 * has resolved.
 */
async function runPython(
  files: Readonly<Record<string, string>>,
  until: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tailmark-python-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const child = spawn(python ?? '', [Object.keys(files).at(-1) ?? ''], {
    cwd: folder,
    env: { ...process.env, LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const exited = once(child, 'close');
  try {
    await Promise.race([until(), exited]);
  } finally {
    child.stdin.end();
    const [code] = await exited;
    rmSync(folder, { recursive: true });
    if (code !== 0) process.stderr.write(`Python ended with ${code}:\n${err}\n`);
  }
}

const has = (module: string) => {
  try {
    execFileSync(python ?? '', ['-c', `import ${module}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

describe('Python code of the pages', () => {
  it('sends timing events', async (context) => {
    if (!has('confluent_kafka')) context.skip('PYTHON has no confluent-kafka');
    await withRig({ stack, name: 'python' }, async (rig) => {
      const code = documentedPython('events.py')
        .replaceAll('kafka-1:9092', stack.brokers.join(','))
        .replaceAll('inference.timings.v1', rig.topic);
      const main = [
        'import events',
        'events.fetch = events.model = lambda value: value',
        'for _ in range(25): events.answer({})',
        'events.producer.flush()',
      ];
      await runPython({ 'events.py': code, 'main.py': main.join('\n') });
      await rig.start(['ingest']);
      await rig.untilConsumed(25);
      const sums = await stageSums(rig.client, '1m');
      const requests = Object.entries(sums).map(([stage, sum]) => [stage, sum.requests]);
      expect(Object.fromEntries(requests)).toEqual({ features: 25, forward: 25, total: 25 });
    });
  });

  it('sends the calls of LiteLLM', async (context) => {
    if (!has('litellm')) context.skip('PYTHON has no litellm');
    const server = createServer(answerLikeOpenAi).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const topic = { topic: uniqueName('litellm'), format: 'json', preset: 'litellm' };
    const settings = { KAFKA_TOPICS: JSON.stringify([topic]) };
    await withRig({ stack, name: 'python', settings }, async (rig) => {
      const code = documentedPython('tailmark_logger.py')
        .replaceAll('kafka-1:9092', stack.brokers.join(','))
        .replaceAll('litellm.requests', rig.topic);
      // LiteLLM calls its loggers later than it answers.
      const files = { 'tailmark_logger.py': code, 'main.py': callsOf(port) };
      await runPython(files, () => rig.read(rig.topic, 6));
      const messages = await rig.read(rig.topic, 6);
      expect(messages.filter(({ value }) => String(value).includes('a secret'))).toEqual([]);

      await rig.start(['ingest']);
      await rig.untilConsumed(6);
      const sums = await stageSums(rig.client, '1m');
      const requests = Object.entries(sums).map(([stage, sum]) => [stage, sum.requests]);
      expect(Object.fromEntries(requests)).toEqual({ first_token: 2, total: 6 });
      const [failed] = await rig.rows<{ n: string }>(
        "SELECT sum(errors) AS n FROM latency_1m WHERE stage = 'total'",
      );
      expect(Number(failed?.n)).toBe(1);
    });
    server.close();
  });
});

/** Two calls that stream, two that do not, one that is not async and one that fails. */
const callsOf = (port: number) => `
import asyncio
import sys
import litellm
from tailmark_logger import logger

litellm.callbacks = [logger]


def call(text):
    messages = [{"role": "user", "content": text}]
    base = "http://127.0.0.1:${port}/v1"
    return dict(model="openai/m", messages=messages, api_base=base, api_key="x", max_retries=0)


async def calls():
    for _ in range(2):
        await litellm.acompletion(**call("a secret"))
    for _ in range(2):
        async for _ in await litellm.acompletion(stream=True, **call("a secret")):
            pass
    try:
        await litellm.acompletion(**call("fail"))
    except litellm.InternalServerError:
        pass
    await asyncio.to_thread(litellm.completion, **call("a secret"))
    await asyncio.to_thread(sys.stdin.read)


asyncio.run(calls())
`;

/** Answers chat completions as OpenAI's API does, in four chunks where the request asks for a stream. */
function answerLikeOpenAi(request: IncomingMessage, response: ServerResponse): void {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => {
    body += text;
  });
  request.on('end', () => {
    const { stream = false, messages } = JSON.parse(body);
    if (messages[0].content === 'fail') {
      response.writeHead(500).end('{"error":{"message":"no"}}');
      return;
    }
    const common = { id: 'c', created: 1, model: 'm' };
    const message = { role: 'assistant', content: 'a secret' };
    if (stream) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const reason of [null, null, null, 'stop']) {
        const choices = [{ index: 0, delta: message, finish_reason: reason }];
        const chunk = { ...common, object: 'chat.completion.chunk', choices };
        response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      }
      response.end('data: [DONE]\n\n');
      return;
    }
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...common, object: 'chat.completion', choices, usage }));
  });
}
