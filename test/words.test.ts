import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

interface Exception {
  readonly file: string;
  readonly reason: string;
}

/** A word that is no longer written, and the one that is written for it. */
interface OldWord {
  /** Found as a whole identifier or as whole words: `of_all` is not found in `share_of_all`. */
  readonly old: string;
  readonly write: string;
  /** Finds the word where it has the old meaning only; left out where every such word is refused. */
  readonly where?: RegExp;
  readonly exceptions?: readonly Exception[];
}

const itself = 'test/words.test.ts';
const migrated = {
  file: 'test/e2e/renamed-events.test.ts',
  reason: 'stores an event of before the migration that renames its fields',
};
const stored = { exceptions: [migrated] };

const oldWords: readonly OldWord[] = [
  { old: 'of_slow', write: 'share_of_slow', ...stored },
  { old: 'of_all', write: 'share_of_all', ...stored },
  { old: 'usual_of_all', write: 'baseline_share_of_all', ...stored },
  { old: 'others_slow_rate', write: 'slow_rate_of_others', ...stored },
  { old: 'usual_slow_rate', write: 'baseline_slow_rate', ...stored },
  { old: 'usual_others_slow_rate', write: 'baseline_slow_rate_of_others', ...stored },
  { old: 'bad per request', write: 'errors per request', ...stored },
  { old: 'scope.series', write: 'scope.affected', where: /\bscope\??\.series\b/ },
  { old: 'scope.open', write: 'scope.unresolved', where: /\bscope\??\.open\b/ },
  { old: 'scope.of', write: 'scope.total', where: /\bscope\??\.of\b/ },
  {
    old: 'resolution: adopted',
    write: 'resolution: rebaselined',
    where: /['"`]adopted['"`]|\bresolution: adopted\b/,
    ...stored,
  },
  {
    old: 'test: exceedances',
    write: 'test: likelihood_ratio',
    where: /\btest\b['"`]?: ?['"`]?exceedances\b/,
    ...stored,
  },
  {
    old: 'above_ms',
    write: 'baseline_ms',
    exceptions: [
      migrated,
      ...[
        'src/views/answers/composition.ts',
        'src/views/composition.ts',
        'test/e2e/views/composition.test.ts',
        'test/golden/recorded/answers/composition.txt',
        'test/golden/recorded/answers/openapi.txt',
        'test/ui/charts/composition.test.ts',
        'test/ui/charts/titles.test.ts',
      ].map((file) => ({ file, reason: 'a slice of requests is of those above a duration' })),
    ],
  },
  { old: 'adopt_after', write: 'rebaseline_after' },
  { old: 'adoptAfter', write: 'rebaselineAfter' },
  { old: 'TAILMARK_DETECT_ADOPT_AFTER', write: 'TAILMARK_DETECT_REBASELINE_AFTER' },
  { old: 'page_per', write: 'group_by' },
  { old: 'pagePer', write: 'groupBy' },
  { old: 'TAILMARK_DETECT_PAGE_PER', write: 'TAILMARK_DETECT_GROUP_BY' },
  { old: 'TailPeaks', write: 'PeaksOverThreshold' },
  { old: 'DriftForecast', write: 'LocalLevel' },
  { old: 'EvidenceSums', write: 'Cusum' },
  { old: 'FaultEvidence', write: 'CusumBank' },
  { old: 'DayCourse', write: 'DiurnalProfile' },
  { old: 'ShortEpisodes', write: 'BurstHistory' },
  { old: 'AnomalyTrack', write: 'AnomalyLifecycle' },
  { old: 'Openings', write: 'FlapHistory' },
  { old: 'UpdateWait', write: 'UpdateBackoff' },
  { old: 'farewell', write: 'resolvedSummary' },
  { old: 'foretold', write: 'predicted' },
  { old: 'untold', write: 'undelivered' },
  { old: 'carryOne', write: 'serializeOne' },
  { old: 'carry(state', write: 'serialize(state' },
  { old: 'CommitNote', write: 'CommitMetadata' },
  { old: 'placePartition', write: 'resolveStartPosition' },
  { old: 'StateMemory', write: 'Arena' },
  { old: 'recallTraffic', write: 'backfillTraffic' },
  { old: 'recallHours', write: 'backfillHours' },
  { old: 'ChunkFigures', write: 'ChunkCounts' },
  { old: 'FetchMark', write: 'FetchPlaceholder' },
  { old: 'BatchLane', write: 'BatchQueue' },
  { old: 'usualMs', write: 'baselineMs' },
  { old: 'usualOf', write: 'baselineOf' },
  {
    old: 'usual',
    write: 'baseline',
    exceptions: [
      {
        file: 'test/detect/tail/evidence/evidence-weights.test.ts',
        reason: 'the name of a sequence of random numbers, which its values follow from',
      },
      {
        file: 'docs/notes/2026-11-25-evaluation.md',
        reason: 'a record, which stays as it was written',
      },
    ],
  },
  { old: 'petered out', write: 'decayed' },
];

const root = fileURLToPath(new URL('../', import.meta.url));
const texts = /\.(ts|js|md|json|sql|yaml|yml|svg|txt)$/;

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file))
    .filter((file) => texts.test(file) && statSync(join(root, file)).isFile())
    .sort();
}

/** What finds the word: as a whole word, unless it says where it means the old thing. */
function patternOf({ old, where }: OldWord): RegExp {
  if (where !== undefined) return where;
  const text = old.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', '\\s+');
  return new RegExp(`(?<![A-Za-z0-9_])${text}(?![A-Za-z0-9_])`);
}

/** `file:line: old → write` for each old word, exceptions left out. */
function oldWordsIn(file: string, text: string, words: readonly OldWord[]): string[] {
  const refused = words.filter(({ exceptions = [] }) => !exceptions.some((e) => e.file === file));
  return refused.flatMap((word) =>
    [...text.matchAll(new RegExp(patternOf(word), 'g'))].map(({ index }) => {
      const line = text.slice(0, index).split('\n').length;
      return `${file}:${line}: ${word.old} → ${word.write}`;
    }),
  );
}

describe('old words', () => {
  const files = [
    ...['src', 'kernel', 'test', 'docs', 'config'].flatMap(filesBelow),
    'README.md',
  ].filter((file) => file !== itself);

  it('are looked for in all files', () => {
    expect(files.length).toBeGreaterThan(500);
  });

  it('stand nowhere but in the exceptions', () => {
    const read = (file: string) => readFileSync(join(root, file), 'utf8');
    expect(files.flatMap((file) => oldWordsIn(file, read(file), oldWords))).toEqual([]);
  });

  it('have exceptions only where they are needed', () => {
    const unneeded = oldWords.flatMap((word) =>
      (word.exceptions ?? [])
        .filter(({ file }) => !patternOf(word).test(readFileSync(join(root, file), 'utf8')))
        .map(({ file }) => `${word.old} is not in ${file}`),
    );
    expect(unneeded).toEqual([]);
  });

  it.each([
    ['const part = driver.of_all;', ['a.ts:1: of_all → share_of_all']],
    ['detect.adopt_after: 2d', ['a.ts:1: adopt_after → rebaseline_after']],
    ["unit: 'bad per request'", ['a.ts:1: bad per request → errors per request']],
    ['\nthe bad\nper request', ['a.ts:2: bad per request → errors per request']],
    ['scope?.series', ['a.ts:1: scope.series → scope.affected']],
    ["if (resolution === 'adopted') {", ['a.ts:1: resolution: adopted → resolution: rebaselined']],
    ["test: 'exceedances'", ['a.ts:1: test: exceedances → test: likelihood_ratio']],
    ['share_of_all and baseline_share_of_all', []],
    ['evidence.exceedances', []],
  ])('are found as whole words: %s', (text, found) => {
    expect(oldWordsIn('a.ts', text, oldWords)).toEqual(found);
  });
});
