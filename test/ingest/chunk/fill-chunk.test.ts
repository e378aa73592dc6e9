// Covers src/ingest/chunk/chunk-settings.ts.

import { describe, expect, it } from 'vitest';
import type { SourceRecord } from '../../../src/source/record.ts';
import { FakeBench, recordAt } from '../fake-bench.ts';
import { FakeBroker } from '../fake-broker.ts';
import { testConfig } from '../test-config.ts';

/** Records of so many bytes, and the offsets of the decoded ones. */
function watched(count: number, bytes: number) {
  const read = new Set<number>();
  const records: SourceRecord[] = Array.from({ length: count }, (_, offset) => {
    const { value, ...record } = recordAt(offset);
    const padded = Buffer.concat([value ?? Buffer.alloc(0), Buffer.alloc(bytes, ' ')]);
    return {
      ...record,
      get value() {
        read.add(offset);
        return padded.subarray(0, bytes);
      },
    };
  });
  return { read, broker: new FakeBroker(records, count) };
}

/** Number of records decoded in each turn, until all are. */
async function turnsOf(count: number, bytes: number, maxEvents = 1_000_000): Promise<number[]> {
  const { read, broker } = watched(count, bytes);
  const bench = new FakeBench(broker, testConfig({ flush_max_events: maxEvents }));
  void bench.batch(0);
  const turns: number[] = [];
  await bench.respondToAll(['yieldToEventLoop']);
  for (let before = 0; read.size > before; ) {
    turns.push(read.size - before);
    before = read.size;
    const at = bench.world.open.findIndex(({ name }) => name === 'yieldToEventLoop');
    bench.world.removeAt(at).respond();
    await bench.respondToAll(['yieldToEventLoop']);
  }
  return turns;
}

describe('a turn of the event loop', () => {
  it('decodes a thousand small records at most', async () => {
    expect(await turnsOf(2_500, 100)).toEqual([1_000, 1_000, 500]);
  });

  it('decodes 128 KiB at most, or one record that is larger', async () => {
    expect(await turnsOf(10, 48 * 1024)).toEqual([3, 3, 3, 1]);
    expect(await turnsOf(3, 1024 * 1024)).toEqual([1, 1, 1]);
  });

  it('that decoded leaves sealing to the next', async () => {
    const { read, broker } = watched(4, 100);
    const bench = new FakeBench(broker, testConfig({ flush_max_events: 2 }));
    void bench.batch(0);
    await bench.respondToAll(['yieldToEventLoop', 'insert']);
    expect({ read: read.size, open: bench.open.sort() }).toEqual({
      read: 2,
      open: ['yieldToEventLoop'],
    });
    bench.world.removeAt(0).respond();
    await bench.respondToAll(['yieldToEventLoop', 'insert']);
    expect({ read: read.size, open: bench.open.sort() }).toEqual({
      read: 2,
      open: ['insert', 'yieldToEventLoop'],
    });
  });
});
