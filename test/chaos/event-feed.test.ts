import { describe, expect, it } from 'vitest';
import { Random } from '../../src/generate/random.ts';
import { type CountedEvent, truthOf } from '../e2e/kit/truth.ts';
import { EventFeed } from './event-feed.ts';
import type { FeedTopic, PlacedMessage } from './feed-topic.ts';

const partitions = 3;

/** A topic whose broker fails by a script, one letter a call; then it works. */
class ScriptedTopic implements FeedTopic {
  readonly partitions = partitions;
  readonly logs: Buffer[][] = Array.from({ length: partitions }, () => []);
  readonly #script: string[];

  /** @param script `+` works, `-` fails without effect, `~` fails with it, `/` with half of it. */
  constructor(script: string) {
    this.#script = [...script];
  }

  async send(messages: readonly PlacedMessage[]): Promise<void> {
    const step = this.#script.shift() ?? '+';
    for (const { partition, value } of messages) {
      const arrives = step === '+' || step === '~' || (step === '/' && partition === 0);
      if (arrives) this.logs[partition]?.push(value);
    }
    if (step !== '+') throw new Error(`send fails: ${step}`);
  }

  async ends(): Promise<number[]> {
    const step = this.#script.shift() ?? '+';
    if (step !== '+') throw new Error('nobody answers');
    return this.logs.map((log) => log.length);
  }

  async close(): Promise<void> {}
}

async function feedThrough(script: string, publishes: readonly number[]) {
  const topic = new ScriptedTopic(script);
  const feed = new EventFeed(topic, {
    seed: 'feed',
    events: 100,
    eventsPerMessage: 4,
    nowMs: 1_790_000_000_000,
    signal: new AbortController().signal,
  });
  for (const count of publishes) await feed.publish(count);
  return { topic, feed, messages: topic.logs.flat().map(String) };
}

const eventsIn = (messages: readonly string[]) =>
  messages.flatMap((text) => text.split('\n')).map((line) => JSON.parse(line) as CountedEvent);

describe('EventFeed', () => {
  it.each([
    ['all works', '', 25],
    ['the broker takes nothing', '-+', 25],
    ['the broker takes all and says nothing', '~+', 25],
    ['one partition takes its part', '/+', 25],
    ['the broker says nothing for a while, having taken all', '~--+', 25],
    ['the broker says nothing for a while, having taken nothing', '---+', 25],
    ['it fails time and again', '/+~--+', 25],
  ])('knows the contents of the topic when %s', async (_, script, all) => {
    const { topic, feed, messages } = await feedThrough(script, [7, 18]);
    expect(new Set(messages).size).toBe(all);
    expect(feed.ends).toEqual(topic.logs.map((log) => log.length));
    expect(feed.events).toBe(100);
    expect(feed.truth()).toEqual(truthOf(eventsIn(messages)));
    expect(messages).toHaveLength(all);
  });

  it('knows them for any behaviour of the broker', async () => {
    const random = new Random('broker');
    for (let run = 0; run < 3; run++) {
      const script = Array.from({ length: 8 }, () => '+-~/'[random.uint32() % 4]).join('');
      const { feed, messages } = await feedThrough(script, [3, 1, 9, 12]);
      expect({ script, messages: messages.length, different: new Set(messages).size }).toEqual({
        script,
        messages: 25,
        different: 25,
      });
      expect(feed.truth()).toEqual(truthOf(eventsIn(messages)));
    }
  });

  it('publishes all it has, and then nothing', async () => {
    const { feed, messages } = await feedThrough('', [20, 20, 20]);
    expect([feed.events, messages.length]).toEqual([100, 25]);
  });

  it('ends on its signal', async () => {
    const ending = new AbortController();
    const feed = new EventFeed(new ScriptedTopic('-'.repeat(1_000)), {
      seed: 'feed',
      events: 100,
      eventsPerMessage: 4,
      nowMs: 1_790_000_000_000,
      signal: ending.signal,
    });
    const publishing = feed.publish(1);
    ending.abort(new Error('enough'));
    await expect(publishing).rejects.toThrow('enough');
  });
});
