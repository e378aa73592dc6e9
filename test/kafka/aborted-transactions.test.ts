import { describe, expect, it } from 'vitest';
import { RecordBatchReader } from '../../src/kafka/protocol/record-batch-reader.ts';
import { allOf, encodeLog } from './record-batch.ts';

type Kind = 'record' | 'abort' | 'commit';

interface FetchedLog {
  readonly bytes: Buffer;
  readonly aborted: readonly { readonly producerId: bigint; readonly firstOffset: number }[];
}

/** Entries of a log in order: `[producer, kind]`; producer 0 writes outside of transactions. */
function responseOf(
  entries: readonly (readonly [number, Kind])[],
  aborted: readonly (readonly [producer: number, firstOffset: number])[],
  firstOffset = 10,
): FetchedLog {
  const log = entries.map(([producer, kind], i) => ({
    offset: firstOffset + i,
    value: Buffer.from('v'),
    isMarker: kind !== 'record',
    ...(producer === 0 ? {} : { producerId: producer }),
  }));
  return {
    bytes: encodeLog(log),
    aborted: aborted.map(([producer, offset]) => ({
      producerId: BigInt(producer),
      firstOffset: offset,
    })),
  };
}

async function offsetsSeen({ bytes, aborted }: FetchedLog): Promise<number[]> {
  const records = await new RecordBatchReader(1 << 20).read(bytes, aborted, { inflatedBytes: 0 });
  return allOf(records).map(({ offset }) => offset);
}

describe('records of aborted transactions are hidden:', () => {
  it('a transaction that began first and was aborted last', async () => {
    // The broker lists them in the order in which they ended.
    const response = responseOf(
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
    expect(await offsetsSeen(response)).toEqual([12, 15]);
  });

  it('the rest of several transactions where a fetch begins within them', async () => {
    const response = responseOf(
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
    expect(await offsetsSeen(response)).toEqual([14]);
  });

  it('not those of committed transactions, also of the same producer', async () => {
    const response = responseOf(
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
    expect(await offsetsSeen(response)).toEqual([10, 13, 15]);
  });

  it('not those of the next transaction after an ended one', async () => {
    const entries = [
      [1, 'record'],
      [1, 'abort'],
      [2, 'record'],
      [2, 'record'],
      [2, 'abort'],
      [0, 'record'],
    ] as const;
    const response = responseOf(entries, [
      [1, 10],
      [2, 12],
    ]);
    expect(await offsetsSeen(response)).toEqual([15]);
  });

  it('and so are control records', async () => {
    const response = responseOf(
      [
        [1, 'record'],
        [1, 'commit'],
        [0, 'record'],
      ],
      [],
    );
    expect(await offsetsSeen(response)).toEqual([10, 12]);
  });
});
