import { dimensions } from '../../src/base/dimensions.ts';
import type { Config } from '../../src/config/schema.ts';
import { configSchema } from '../../src/config/schema.ts';
import { chunkSettingsOf } from '../../src/ingest/chunk/chunk-settings.ts';
import { type ChunkBegin, OpenChunk, type SealedChunk } from '../../src/ingest/chunk/open-chunk.ts';
import { ChunkBlock } from '../../src/sink/chunks/chunk-block.ts';
import type { SourceRecord } from '../../src/source/record.ts';
import { SeededRandom } from '../base/seeded-random.ts';
import { randomEvents } from '../window/random-events.ts';
import type { TimingEventText } from '../window/timing-event-text.ts';

/** 2026-09-21T13:33:20Z: six hours and a half before the end of a day. */
export const startMs = 1_790_000_000_000;
const groupId = 'tailmark';
const topic = 'inference.timings.v1';
const begin: ChunkBegin = {
  logId: 'MkU3OEVBNTcwNTJENDM2Qk/uq0Y5v2fTkC2ZzQm1yk0Lg',
  startOffset: 2 ** 40 + 5,
  watermarkMs: startMs - 1_000,
  leaderEpoch: 3,
};

export interface GoldenChunk extends SealedChunk {
  readonly name: string;
  /** True where each row is shown; else there is a digest a column. */
  readonly isSmall: boolean;
}

function seal(values: object, records: readonly SourceRecord[], from: Partial<ChunkBegin> = {}) {
  const config: Config = configSchema.parse(values);
  const open = new OpenChunk(
    { config, groupId, block: new ChunkBlock() },
    chunkSettingsOf(config),
    topic,
    3,
  );
  const nowMs = startMs + 86_400_000;
  open.begin({ ...begin, ...from }, nowMs);
  for (const record of records) open.add(record);
  return open.seal(nowMs);
}

/** A record of one event or more. */
function recordAt(at: number, ...events: readonly (TimingEventText | string)[]): SourceRecord {
  const lines = events.map((event) => (typeof event === 'string' ? event : JSON.stringify(event)));
  return {
    offset: begin.startOffset + at,
    timestampMs: startMs + at,
    value: Buffer.from(lines.join('\n')),
    leaderEpoch: 4,
  };
}

const slow = { ts: startMs, model: 'ranker', region: 'eu', host: 'pod-1' };
const few: readonly TimingEventText[] = [
  { ...slow, id: 'r-1', trace_id: 'größe', stages_ms: { queue: 1.5, forward: 20 }, batch_size: 9 },
  { ...slow, ts: startMs + 12_345, total_ms: 412.5, status: 'timeout', cache_hit: false },
  { ...slow, version: '2', total_ms: 0.001, status: 'error', input_tokens: 4_000 },
  { ...slow, cold_start: true, total_ms: 3_599_999, status: 'cancelled', request_bytes: 77 },
  { ...slow, stages_ms: { features: 4 }, partial: true, weight: 10, total_ms: 9 },
  { ...slow, ts: startMs + 40_000_000, model: '模型', total_ms: 0, tenant: 't', service: 's' },
];

function random(seed: number): SourceRecord[] {
  const options = { fromMs: startMs, stepMs: 50, jitterMs: 20_000 };
  const events = randomEvents(new SeededRandom(seed), 800, options);
  return events.map((event, i) => recordAt(i, event));
}

/** Records that are not counted, for each reason that a chunk itself finds. */
const unwelcome: readonly SourceRecord[] = [
  recordAt(0, few[0] as TimingEventText, '7', '{"ts":"x","model":"m"}', '{}'),
  recordAt(1, { ...slow, ts: startMs - 90_000_000, total_ms: 1 }),
  recordAt(2, { ...slow, ts: startMs + 90_000_000, total_ms: 1 }),
  { ...recordAt(3), value: null },
  {
    ...recordAt(4, 'the beginning'),
    refused: { reason: 'message_too_large', detail: 'larger than the limit', originalBytes: 2e7 },
  },
  { ...recordAt(9, { ...slow, total_ms: 2, region: 'r'.repeat(300) }), removedBefore: 4 },
];

/** Chunks of fixed records, sealed as the ingest role does. */
export function goldenChunks(): GoldenChunk[] {
  const all = { windows: { dimensions: [...dimensions] } };
  const chunk = (name: string, isSmall: boolean, sealed: SealedChunk) => ({
    ...{ name, isSmall },
    ...sealed,
  });
  return [
    chunk('a few events', true, seal({}, [recordAt(0, ...few)])),
    chunk(
      'all dimensions',
      true,
      seal(
        all,
        few.map((event, at) => recordAt(at, event)),
      ),
    ),
    chunk('no facets', true, seal({ windows: { facets: [] } }, [recordAt(0, ...few.slice(0, 2))])),
    chunk('rejected, late, early and removed', true, seal({}, unwelcome)),
    chunk(
      'more series than a chunk may have',
      true,
      seal({ limits: { max_series: 2 } }, [recordAt(0, ...few)]),
    ),
    chunk('no records', true, seal({}, [])),
    chunk(
      'a log without an id',
      true,
      seal({}, [recordAt(0, ...few)], { logId: '', leaderEpoch: -1 }),
    ),
    ...[1, 2, 3].map((seed) => chunk(`800 events of seed ${seed}`, false, seal({}, random(seed)))),
    chunk('800 events of seed 4, all dimensions', false, seal(all, random(4))),
  ];
}
