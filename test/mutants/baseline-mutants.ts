import type { PlantedMutant } from './planted-mutant.ts';

const stage = 'src/baseline/stage-baseline.ts';
const daily = 'src/baseline/recurrence/daily-recurrence.ts';
const series = 'src/detect/tail/series-detector.ts';
const stageTests = [
  'test/baseline/stage-baseline.test.ts',
  'test/baseline/series-baseline.test.ts',
];
const recurrence = 'src/baseline/recurrence/recurrence.ts';
const recurrenceTests = [
  'test/baseline/recurrence/recurrence.test.ts',
  'test/baseline/recurrence/daily-recurrence.test.ts',
];
const seriesTests = ['test/detect/detector.test.ts', 'test/detect/detector-state.test.ts'];

/** Bugs of what a series is compared with, and of what is learnt of it. */
export const baselineMutants: readonly PlantedMutant[] = [
  {
    name: 'stale-baseline',
    bug: 'the reference is never renewed: a week later it is still that of the first minutes',
    file: stage,
    find: 'if (period !== this.#referencePeriod) this.#reference = undefined;',
    replace: 'if (this.#windows === 1) this.#reference = undefined;',
    tests: stageTests,
  },
  {
    name: 'baseline-forgets-nothing',
    bug: 'windows older than the baseline stay in it: memory grows, and last month counts as the recent past',
    file: stage,
    find: 'const isKept = ({ startMs: at }: Block) => at + blockMs > keepFromMs;',
    replace:
      'const isKept = ({ startMs: at }: Block) => at + blockMs > keepFromMs - 10 * baselineMs;',
    tests: stageTests,
  },
  {
    name: 'baseline-learns-the-incident',
    bug: 'the windows of an open anomaly are learnt: an hour later it is baseline, and resolved (Adtributor: poisoned baseline)',
    file: 'src/detect/tail/quarantine.ts',
    find: '    for (const entry of entries) entry.learnable = false;\n',
    replace: '',
    tests: seriesTests,
  },
  {
    name: 'rise-learnt-before-it-is-found',
    bug: 'windows are learnt while a test already speaks against them: a slow rise becomes the baseline',
    file: series,
    find: 'this.#quarantine.before(heldFromMs)',
    replace: 'this.#quarantine.before(this.lastSeenMs)',
    tests: seriesTests,
  },
  {
    name: 'baseline-gone-after-the-incident',
    bug: 'what was the baseline before a long incident is too old when it is over',
    file: series,
    find: '    this.#baseline.hold(this.lastSeenMs);\n',
    replace: '',
    tests: seriesTests,
  },
  {
    name: 'once-is-daily',
    bug: 'what came once in a week counts as daily: a fault at the hour of an old one is not reported',
    file: recurrence,
    find: 'if (laterMs === 0 && (days & daysThatSuffice) !== 0) return true;',
    replace: 'if (laterMs === 0 && days !== 0) return true;',
    tests: recurrenceTests,
  },
  {
    name: 'any-size-is-daily',
    bug: 'a fault at the hour of a daily job is not reported, however much larger than the job it is',
    file: daily,
    find: '(expected.peak * recurrence.clearer) / varianceInflation',
    replace: '(expected.peak * recurrence.clearer ** 8) / varianceInflation',
    tests: recurrenceTests,
  },
  {
    name: 'unlike-is-daily',
    bug: 'a fault at the hour of a daily job is not reported, though it is of another kind',
    file: recurrence,
    find: 'return cosineOf(current.shape, past.shape) >= recurrence.cosine;',
    replace: 'return cosineOf(current.shape, past.shape) >= -recurrence.cosine;',
    tests: recurrenceTests,
  },
  {
    name: 'clocks-never-change',
    bug: 'a daily job in local time pages when the clocks change',
    file: recurrence,
    find: '[0, hourMs, -hourMs].map((laterMs) => ({',
    replace: '[0].map((laterMs) => ({',
    tests: recurrenceTests,
  },
  {
    name: 'younger-than-yesterday',
    bug: 'a daily job that starts two minutes earlier than yesterday is compared with what had been said by then',
    file: recurrence,
    find: 'minuteOf(thenMs + slackMs, episode)',
    replace: 'minuteOf(thenMs - slackMs, episode)',
    tests: recurrenceTests,
  },
  {
    name: 'long-job-is-two',
    bug: 'a daily job of an hour pages half way, where its evidence begins again',
    file: daily,
    find: 'if (expected !== undefined && windowStartMs < expected.endMs) return;',
    replace: 'if (expected !== undefined && windowStartMs < episode.endMs) return;',
    tests: recurrenceTests,
  },
  {
    name: 'hour-aside-hides-both',
    bug: 'what comes an hour after a daily job that has come today is not reported',
    file: recurrence,
    find: 'const isToday = (days & 1) !== 0;',
    replace: 'const isToday = false;',
    tests: recurrenceTests,
  },
  {
    name: 'first-minute-is-weak',
    bug: 'a daily job pages again: in its first minutes it is held against what was said later',
    file: recurrence,
    find: 'if (past.isPiece || reachedMs < 0) return false;',
    replace: 'if (past.isPiece || thenMs < 0) return false;',
    tests: recurrenceTests,
  },
];
