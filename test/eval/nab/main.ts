import { parseArgs } from 'node:util';
import { NabCorpus } from './nab-corpus.ts';
import { nabProfiles } from './nab-profiles.ts';
import { nabScore } from './nab-score.ts';
import type { ScoredFile } from './nab-sweep.ts';
import { type NabRow, renderNab } from './render-nab.ts';
import { ScalarDetector } from './scalar-detector.ts';

// npm run eval -- nab --data DIR, run by ../run.js: DIR is a checkout of github.com/numenta/NAB. It first
// recomputes the published scores from the published records of each detector; then it scores tailmark.

const { values } = parseArgs({ options: { data: { type: 'string' } } });
if (values.data === undefined) {
  process.stderr.write('Where is NAB? npm run eval -- nab --data DIR, a checkout of numenta/NAB\n');
  process.exit(64);
}
const corpus = new NabCorpus(values.data);
const published = corpus.publishedScores();
const rows: NabRow[] = corpus.publishedDetectors().map((detector) => {
  const files = corpus.files.map((file): ScoredFile => {
    return { windows: file.windows, scores: corpus.publishedRecords(detector, file) };
  });
  const theirs = nabProfiles.map(({ name }) => published[detector]?.[name] ?? Number.NaN);
  const recomputed = nabProfiles.map((profile) => {
    const threshold = corpus.publishedThreshold(detector, profile.name);
    return nabScore(files, profile, threshold).normalized;
  });
  const best = nabProfiles.map((profile) => nabScore(files, profile).normalized);
  return { detector, published: theirs, recomputed, best };
});
const files = corpus.files.map(({ windows, timesMs, values }): ScoredFile => {
  const detector = new ScalarDetector();
  const scores = values.map((value, i) => detector.observe(timesMs[i] as number, value));
  return { windows, scores };
});
const own = nabProfiles.map((profile) => nabScore(files, profile).normalized);
rows.push({ detector: 'tailmark', best: own });
process.stdout.write(renderNab(rows));
const wrong = rows.filter(
  ({ published = [], recomputed = [] }) =>
    !published.every((score, i) => Math.abs(score - (recomputed[i] ?? Number.NaN)) < 1e-6),
);
if (wrong.length > 0) {
  const names = wrong.map(({ detector }) => detector).join(', ');
  process.stderr.write(`Not as published: ${names}\n`);
  process.exitCode = 1;
}
