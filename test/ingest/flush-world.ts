import { createLog } from '../../src/base/telemetry/log.ts';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import type { FlushContext } from '../../src/ingest/chunk-flush.ts';
import { decodeMetadata } from '../../src/ingest/commit-metadata.ts';
import type { DeadLetter } from '../../src/ingest/letters/dead-letter.ts';
import { DeadLetterBudget } from '../../src/ingest/letters/dead-letter-budget.ts';
import type { Chunk, LedgerEntry } from '../../src/sink/chunks/chunk.ts';
import type { ChunkPart } from '../../src/sink/chunks/chunk-parts.ts';
import type { ChunkState } from '../../src/sink/chunks/chunk-store.ts';
import { testConfig } from './test-config.ts';
import { testIntent } from './test-intent.ts';

export const chunk: Chunk = {
  groupId: 'g',
  topic: 't',
  partition: 0,
  logId: 'c/t',
  startOffset: 10,
  endOffset: 20,
  ...testIntent(20, 99).counts,
  rows: {
    bytes: Buffer.from('rows'),
    rowCount: 1,
    samples: 1,
    windowMinMs: 0,
    windowMaxMs: 0,
    mark: 1,
    days: { stage: [0], driver: [], exemplar: [] },
  },
};
/** Flush options of the chunk. */
export const options = {
  before: { watermarkMs: 55, leaderEpoch: 2 },
  intent: testIntent(20, 99),
  inherited: false,
  isFirst: false,
};
const landing: ChunkPart = { table: 'chunk_landings', kind: undefined, fromS: 0, toS: 1 };
export const letterAt = (offset: number): DeadLetter => ({
  topic: 't',
  partition: 0,
  logId: 'c/t',
  offset,
  index: 0,
  reason: 'bad_ts',
  detail: '',
  bytes: Buffer.alloc(0),
  originalBytes: 0,
});

/**
 * A world that responds at once, and refuses a step as often as configured. Where `missing` does not say what
 * the tables lack, they lack the landing until rows were sent.
 */
export function worldOf(
  refusals: Readonly<Record<string, readonly (Error | undefined)[]>> = {},
  found: Partial<ChunkState> & { readonly isNowhere?: boolean } = {},
  missing: ChunkPart[][] = [],
  /** Number of ledger rows that are acknowledged and lost. */
  forgetful = 0,
) {
  const steps: string[] = [];
  const left = new Map(Object.entries(refusals).map(([name, errors]) => [name, [...errors]]));
  const step = async (name: string, detail = '') => {
    steps.push(detail === '' ? name : `${name} ${detail}`);
    const error = left.get(name)?.shift();
    if (error !== undefined) throw error;
  };
  const claim = {
    topic: 't',
    partition: 0,
    isLost: false,
    commit: (offset: number, metadata: string) => {
      const decoded = decodeMetadata(metadata);
      return step('commit', `${offset} ${decoded?.watermarkMs} ${decoded?.intent?.endOffset}`);
    },
  };
  const metrics = createMetrics();
  const time = { elapsedMs: 0 };
  const recorded: LedgerEntry[] = [];
  let isRecorded = found.isRecorded ?? false;
  let isThere = found.isLanded ?? false;
  const context: FlushContext = {
    config: testConfig(),
    store: {
      insert: async () => {
        await step('insert');
        isThere = true;
      },
      missing: async () => {
        await step('missing');
        const parts = missing.shift() ?? (isThere ? [] : [landing]);
        return { parts, isNowhere: found.isNowhere ?? false };
      },
      fill: (_, { table }, attempt) => step('fill', `${table} ${attempt}`),
      record: async (entry, attempt) => {
        recorded.push(entry);
        await step('record', attempt === 0 ? '' : `${attempt}`);
        if (recorded.length > forgetful + (refusals.record?.length ?? 0)) isRecorded = true;
      },
      inspect: async () => {
        await step('look');
        return { isLanded: false, landedSamples: 0, isRemembered: true, ...found, isRecorded };
      },
      ledgerEnds: async () => [],
      groupBeginMs: async () => undefined,
    },
    publisher: {
      publish: (topic, messages) => step('publish', `${topic} ${messages.length}`),
      close: async () => undefined,
    },
    deadLetterSuffix: '.dlq',
    letterBudget: new DeadLetterBudget(1e9),
    clock: {
      nowMs: () => 0,
      elapsedMs: () => time.elapsedMs,
      sleep: (ms) => step('sleep', `${ms}`),
      yieldToEventLoop: async () => undefined,
      every: () => () => undefined,
    },
    guardMs: 5_000,
    log: createLog({ level: 'silent' }),
    metrics,
  };
  return { steps, claim, context, metrics, time, recorded };
}
