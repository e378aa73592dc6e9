import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { hideAbortedRecords } from '../../src/source/hide-aborted-records.ts';

// What is judged is kafkajs' own batch, of an answer with and without the mending.
const Batch: new (
  topic: string,
  fetchedOffset: string,
  partition: object,
) => { messages: { offset: string }[]; lastOffset(): string } = createRequire(import.meta.url)(
  'kafkajs/src/consumer/batch',
);

const marker = Buffer.from([0, 0, 0, 0]);
type Kind = 'record' | 'abort' | 'commit';

/** Entries of a log in order: `[producer, kind, key]`; producer 0 writes in no transaction. */
function answerOf(
  entries: readonly (readonly [number, Kind, (Buffer | null)?])[],
  aborted: readonly (readonly [producer: number, firstOffset: number])[],
  firstOffset = 10,
) {
  const messages = entries.map(([producer, kind, key = null], i) => ({
    offset: String(firstOffset + i),
    key: kind === 'abort' ? marker : kind === 'commit' ? Buffer.from([0, 0, 0, 1]) : key,
    isControlRecord: kind !== 'record',
    batchContext: { producerId: String(producer), inTransaction: producer > 0 },
  }));
  const abortedTransactions = aborted.map(([producer, offset]) => ({
    producerId: String(producer),
    firstOffset: String(offset),
  }));
  const partition = { partition: 0, highWatermark: '99', abortedTransactions, messages };
  return { responses: [{ topicName: 't', partitions: [partition] }] };
}

/** Offsets that kafkajs hands over of an answer, from the offset that was asked for. */
async function offsetsSeen(answer: ReturnType<typeof answerOf>, asked = 10): Promise<number[]> {
  class Broker {
    async fetch() {
      return answer;
    }
  }
  hideAbortedRecords(Broker);
  hideAbortedRecords(Broker);
  const { responses } = await new Broker().fetch();
  const [partition] = responses[0]?.partitions ?? [];
  const batch = new Batch('t', String(asked), partition ?? {});
  expect(Number(batch.lastOffset())).toBe(9 + (partition?.messages.length ?? 0));
  return batch.messages.map(({ offset }) => Number(offset));
}

/** What kafkajs makes of it by itself. */
function offsetsSeenOtherwise(answer: ReturnType<typeof answerOf>, asked = 10): number[] {
  const [partition] = answer.responses[0]?.partitions ?? [];
  const batch = new Batch('t', String(asked), partition ?? {});
  return batch.messages.map(({ offset }) => Number(offset));
}

describe('hideAbortedRecords', () => {
  it('hides a transaction that began first and was aborted last', async () => {
    // The broker tells of them in the order in which they ended.
    const answer = () =>
      answerOf(
        [
          [1, 'record'],
          [2, 'record'],
          [0, 'record'],
          [2, 'abort'],
          [1, 'abort'],
          [0, 'record'],
        ],
        [
          [2, 11],
          [1, 10],
        ],
      );
    expect(offsetsSeenOtherwise(answer())).toContain(10);
    expect(await offsetsSeen(answer())).toEqual([12, 15]);
  });

  it('hides what is left of several transactions where a fetch begins within them', async () => {
    const answer = () =>
      answerOf(
        [
          [2, 'record'],
          [1, 'record'],
          [1, 'abort'],
          [2, 'abort'],
          [0, 'record'],
        ],
        [
          [1, 3],
          [2, 5],
        ],
      );
    expect(offsetsSeenOtherwise(answer())).toContain(10);
    expect(await offsetsSeen(answer())).toEqual([14]);
  });

  it('takes no record for the end of a transaction, whatever its key', async () => {
    const answer = () =>
      answerOf(
        [
          [1, 'record', marker],
          [1, 'record'],
          [1, 'abort'],
          [0, 'record'],
        ],
        [[1, 10]],
      );
    expect(offsetsSeenOtherwise(answer())).toEqual([10, 11, 13]);
    expect(await offsetsSeen(answer())).toEqual([13]);
  });

  it('hides nothing of transactions that were committed, also by the same producer', async () => {
    const answer = answerOf(
      [
        [1, 'record'],
        [1, 'commit'],
        [1, 'record'],
        [2, 'record'],
        [1, 'abort'],
        [1, 'record'],
        [1, 'commit'],
        [2, 'commit'],
      ],
      [[1, 12]],
    );
    expect(await offsetsSeen(answer)).toEqual([10, 13, 15]);
  });

  it('hides the records before the offset that was asked for with the rest', async () => {
    const entries = [
      [1, 'record'],
      [1, 'abort'],
      [2, 'record'],
      [2, 'record'],
      [2, 'abort'],
      [0, 'record'],
    ] as const;
    const answer = answerOf(entries, [
      [1, 10],
      [2, 12],
    ]);
    expect(await offsetsSeen(answer, 13)).toEqual([15]);
  });

  it('leaves an answer without aborted transactions as it is', async () => {
    const answer = answerOf(
      [
        [1, 'record'],
        [1, 'commit'],
        [0, 'record'],
      ],
      [],
    );
    expect(await offsetsSeen(answer)).toEqual([10, 12]);
  });
});
