import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/base/telemetry/log.ts';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import type { RejectReason } from '../../../src/decode/reject-reasons.ts';
import { ChunkFlush, type FlushContext } from '../../../src/ingest/chunk-flush.ts';
import type { DeadLetter } from '../../../src/ingest/letters/dead-letter.ts';
import { DeadLetterBudget } from '../../../src/ingest/letters/dead-letter-budget.ts';
import type { OutgoingMessage } from '../../../src/kafka/client/publisher.ts';
import type { Chunk } from '../../../src/sink/chunks/chunk.ts';
import { chunk as flushedChunk } from '../flush-world.ts';
import { testConfig } from '../test-config.ts';
import { testIntent } from '../test-intent.ts';

const chunk: Chunk = {
  ...flushedChunk,
  partition: 3,
  startOffset: 100,
  endOffset: 200,
  records: 100,
  consumed: 100,
  aggregated: 75,
  rejected: 25,
};

const letter = (offset: number, reason: RejectReason): DeadLetter => ({
  topic: 't',
  partition: 3,
  logId: 'c/t',
  offset,
  index: 0,
  reason,
  detail: '',
  bytes: Buffer.from('x'),
  originalBytes: 1,
});
const letters = [
  ...Array.from({ length: 15 }, (_, i) => letter(100 + i, 'invalid_json')),
  ...Array.from({ length: 10 }, (_, i) => letter(150 + i, 'bad_ts')),
];

/** Flushes the chunk repeatedly; every write of letters fails this often before it succeeds. */
function flusher(perSecond: number, failures = 0) {
  const time = { elapsedMs: 0 };
  const messages: OutgoingMessage[] = [];
  const metrics = createMetrics();
  let left = failures;
  const context: FlushContext = {
    config: testConfig(),
    store: {
      insert: async () => undefined,
      missing: async () => ({ parts: [], isNowhere: false }),
      fill: async () => undefined,
      record: async () => undefined,
      inspect: async () => ({
        isRecorded: false,
        isLanded: false,
        landedSamples: 0,
        isRemembered: true,
      }),
      ledgerEnds: async () => [],
      groupBeginMs: async () => undefined,
    },
    publisher: {
      publish: async (_, some) => {
        if (left-- > 0) throw new Error('no');
        messages.push(...some);
      },
      close: async () => undefined,
    },
    deadLetterSuffix: '.dlq',
    letterBudget: new DeadLetterBudget(perSecond),
    clock: {
      nowMs: () => 0,
      elapsedMs: () => time.elapsedMs,
      sleep: async () => undefined,
      yieldToEventLoop: async () => undefined,
      every: () => () => undefined,
    },
    guardMs: 5_000,
    log: createLog({ level: 'silent' }),
    metrics,
  };
  const claim = { topic: 't', partition: 3, isLost: false, commit: async () => undefined };
  const options = {
    before: { watermarkMs: 0, leaderEpoch: -1 },
    intent: testIntent(200, 99),
    inherited: false,
    isFirst: false,
  };
  return {
    time,
    messages,
    metrics,
    flush: () => new ChunkFlush(claim, chunk, letters, options, context).run(),
  };
}

async function suppressedBy(metrics: ReturnType<typeof createMetrics>) {
  const { values } = await metrics.deadLettersSuppressed.get();
  return Object.fromEntries(values.map(({ labels, value }) => [labels.reason, value]));
}
const writtenBy = async (metrics: ReturnType<typeof createMetrics>) =>
  (await metrics.deadLetters.get()).values[0]?.value;

describe("dead letters beyond a process's limit", () => {
  it('are summed up in one, by reason and range of offsets', async () => {
    const { messages, metrics, flush } = flusher(2);
    await flush();
    expect(messages).toHaveLength(21);
    expect(messages.slice(0, 20).map(({ key }) => key)).toEqual(
      letters.slice(0, 20).map(({ offset }) => `t/3/${offset}/0`),
    );
    expect(JSON.parse(String(messages[20]?.value))).toEqual({
      suppressed: 5,
      reasons: { bad_ts: 5 },
      topic: 't',
      partition: 3,
      first_offset: 155,
      last_offset: 159,
    });
    expect(messages[20]?.key).toBe('t/3/155-159/suppressed');
    expect(messages[20]?.headers).toMatchObject({ 'tailmark-suppressed': '5' });
    expect(await suppressedBy(metrics)).toEqual({ bad_ts: 5 });
    expect(await writtenBy(metrics)).toBe(21);
    await flush();
    expect(messages).toHaveLength(22);
    expect(await suppressedBy(metrics)).toEqual({ bad_ts: 15, invalid_json: 15 });
  });

  it('are written again as time passes', async () => {
    const { time, messages, metrics, flush } = flusher(2);
    await flush();
    messages.length = 0;
    time.elapsedMs = 60_000;
    await flush();
    expect(messages).toHaveLength(21);
    expect(await suppressedBy(metrics)).toEqual({ bad_ts: 10 });
  });

  it('are the same when the write is retried', async () => {
    const { messages, metrics, flush } = flusher(2, 3);
    await flush();
    expect(messages).toHaveLength(21);
    expect(await suppressedBy(metrics)).toEqual({ bad_ts: 5 });
  });

  it('are not suppressed below the limit', async () => {
    const { messages, metrics, flush } = flusher(2.5);
    await flush();
    expect(messages).toHaveLength(25);
    expect(await suppressedBy(metrics)).toEqual({});
  });
});
