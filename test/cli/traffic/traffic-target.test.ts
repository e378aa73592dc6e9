import { describe, expect, it } from 'vitest';
import type { Io } from '../../../src/cli/io.ts';
import { openStdout, openTopic } from '../../../src/cli/traffic/traffic-target.ts';
import { configSchema } from '../../../src/config/schema.ts';

it('standard output accepts no more than its reader does', async () => {
  const written: string[] = [];
  let drain: () => void = () => undefined;
  const outDrained = () => new Promise<void>((resolve) => (drain = resolve));
  const io = { out: (text: string) => void written.push(text), outDrained } as unknown as Io;
  const target = openStdout(io);
  let isSent = false;
  const sending = target.send([{ key: 'a', value: Buffer.from('{}') }]).then(() => {
    isSent = true;
  });
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect([written, isSent]).toEqual([['{}\n'], false]);
  drain();
  await sending;
});

describe('the topic that timing events go to', () => {
  const spans = { topic: 'spans', format: 'otlp_proto' };
  const open = (...topics: readonly unknown[]) => {
    const sent: string[] = [];
    let isClosed = false;
    const publisher = {
      publish: async (topic: string) => void sent.push(topic),
      close: async () => {
        isClosed = true;
      },
    };
    const config = configSchema.parse({ kafka: { topics } });
    const target = openTopic(async () => ({ config, publisher }), {}, {} as never);
    return { target, sent, isClosed: () => isClosed };
  };

  it('is the first that holds some', async () => {
    const { target, sent } = open(spans, 'timings', 'more');
    await (await target).send([]);
    expect([(await target).name, sent]).toEqual(['topic timings', ['timings']]);
  });

  it('is none of another format', async () => {
    const { target, isClosed } = open(spans);
    await expect(target).rejects.toMatchObject({
      message: expect.stringContaining('kafka.topics must hold a topic of them'),
      hint: 'Add one to kafka.topics, or name one that exists: --topic NAME.',
    });
    expect(isClosed()).toBe(true);
  });
});
