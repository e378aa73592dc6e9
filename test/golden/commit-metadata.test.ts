import { describe, it } from 'vitest';
import { ChunkFlush, commitStart } from '../../src/ingest/chunk-flush.ts';
import { countsOf, decodeMetadata } from '../../src/ingest/commit-metadata.ts';
import type { StartPosition } from '../../src/ingest/start-position.ts';
import { chunk, letterAt, options, worldOf } from '../ingest/flush-world.ts';
import { testIntent } from '../ingest/test-intent.ts';
import { expectGolden, lineOf } from './expect-golden.ts';

/** A partition that begins, of whose log nothing is known. */
const start: StartPosition = {
  reason: 'start_from',
  logId: 'c/t',
  startOffset: 10,
  readOffset: 10,
  leaderEpoch: -1,
  watermarkMs: undefined,
  intent: undefined,
  truncatedAt: undefined,
  removedFrom: 10,
  lostOffsets: 0,
  lost: undefined,
  mustCommit: true,
};
const storeId = '0123456789ab';

type Act = (world: ReturnType<typeof worldOf>, commits: string[]) => Promise<void>;

/** Commits and dead letters' topics of what is done, in their order. */
async function commitsOf(act: Act, found: Parameters<typeof worldOf>[1] = {}): Promise<string[]> {
  const world = worldOf({}, found);
  const commits: string[] = [];
  await act(world, commits);
  return commits;
}

const claimOf = ({ claim }: ReturnType<typeof worldOf>, commits: string[]) => ({
  ...claim,
  commit: async (offset: number, metadata: string) => {
    commits.push(`${offset} ${metadata}`);
  },
});

/** Flushes a chunk, as its first reader or as a successor. */
function flush(
  of: Partial<typeof chunk>,
  flushed: Partial<ConstructorParameters<typeof ChunkFlush>[3]> = {},
  store: string | undefined = storeId,
): Act {
  return async (world, commits) => {
    const context = { ...world.context, storeId: store };
    const claim = claimOf(world, commits) as unknown as ConstructorParameters<typeof ChunkFlush>[0];
    const begun = { ...options, ...flushed };
    await new ChunkFlush(claim, { ...chunk, ...of }, [letterAt(12)], begun, context).run();
  };
}

function begin(of: Partial<StartPosition>, store: string | undefined = storeId): Act {
  return async (world, commits) => {
    const claim = claimOf(world, commits) as unknown as ConstructorParameters<typeof ChunkFlush>[0];
    await commitStart(claim, { ...start, ...of }, { ...world.context, storeId: store });
  };
}

const intent = testIntent(20, 99);
const counted = { ...countsOf(chunk), consumed: 12, rows: { ...countsOf(chunk).rows, samples: 3 } };
const inherited = { inherited: true, intent: { ...intent, counts: counted } };

const forms: readonly (readonly [name: string, act: Act, found?: Parameters<typeof worldOf>[1]])[] =
  [
    ['begun, nothing known', begin({ logId: '' }, undefined)],
    ['begun at the end of the ledger', begin({ leaderEpoch: 4, watermarkMs: 55 })],
    ['begun in a log that was truncated', begin({ logId: 'c/t#2', leaderEpoch: 7 })],
    ['pending, then stored', flush({})],
    [
      'of a log without an id, of a store without one',
      flush({ logId: '', leaderEpoch: -1 }, {}, undefined),
    ],
    [
      'before the first event',
      flush(
        { watermarkMs: Number.NEGATIVE_INFINITY },
        {
          before: { watermarkMs: Number.NEGATIVE_INFINITY, leaderEpoch: -1 },
          intent: testIntent(20, 99, { watermarkMs: Number.NEGATIVE_INFINITY }),
        },
      ),
    ],
    [
      'of a topic with a format',
      flush(
        {},
        {
          intent: { ...intent, settings: { ...intent.settings, format: 'otlp 0f1e2d' } },
        },
      ),
    ],
    [
      'of records that are removed',
      flush(
        { records: 0, removedOffsets: 10 },
        {
          intent: testIntent(20, 99, { records: 0, removedOffsets: 10 }),
        },
      ),
    ],
    ['inherited, with all records', flush({}, { inherited: true }), { isLanded: true }],
    ['inherited, with fewer records', flush({}, inherited), { isNowhere: true }],
    [
      'inherited twice, with fewer records each time',
      flush(
        {},
        {
          ...inherited,
          intent: { ...inherited.intent, earlier: [{ ...counted, records: 11, consumed: 13 }] },
        },
      ),
      { isNowhere: true },
    ],
  ];

/** Metadata that earlier versions have written, and others. */
const writtenBefore: readonly string[] = [
  '{"v":"tailmark/1","watermarkMs":5}',
  '{"v":"tailmark/2","logId":"c/t","storeId":"ab12","watermarkMs":5}',
  '{"v":"tailmark/3","logId":"c/t","leaderEpoch":4}',
  '{"v":"tailmark/3","logId":"c/t#2","storeId":"ab12","leaderEpoch":4,"watermarkMs":5,"later":1}',
  '{"v":"tailmark/3","logId":"c/t","leaderEpoch":4,"intent":{"endOffset":20,"nowMs":7,"settings":' +
    '{"dimensions":["model"],"facets":[],"allowedLatenessMs":1,"maxFutureMs":2,"graceMs":3,"maxCells":4,' +
    '"maxMessageBytes":5,"maxDurationMs":6,"maxDimensionBytes":7},"counts":{"firstTimestampMs":1,' +
    '"lastTimestampMs":2,"watermarkMs":null,"leaderEpoch":3,"records":10,"consumed":10,"aggregated":9,' +
    '"rejected":0,"late":0,"overflow":1,"lateMerged":0,"rows":{"rowCount":1,"samples":1,' +
    '"windowMinMs":0,"windowMaxMs":0}}}}',
  '{"v":"tailmark/2","intent":{}}',
  '{"v":"tailmark/4","logId":"c/t"}',
  '{"v":"tailmark/3","logId":"c/t","leaderEpoch":"x"}',
  'committed by hand',
  '',
];

function readBack(metadata: string): string {
  try {
    return lineOf(decodeMetadata(metadata)) ?? 'nothing';
  } catch (error) {
    return String(error);
  }
}

describe('metadata of a commit', () => {
  it('is written as recorded in each of its forms, with the offsets', async () => {
    const sections: string[] = [];
    for (const [name, act, found] of forms) {
      sections.push(`## ${name}`, ...(await commitsOf(act, found)), '');
    }
    expectGolden('chunks/commits.txt', sections.join('\n'));
  });

  it('is read as recorded, also where another version wrote it', () => {
    const sections = writtenBefore.map((text) => `${text}\n  ${readBack(text)}`);
    expectGolden('chunks/commits-read.txt', sections.join('\n'));
  });
});
