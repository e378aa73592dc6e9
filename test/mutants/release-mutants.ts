import type { PlantedMutant } from './planted-mutant.ts';

const loan = 'src/detect/peers/baseline-loan.ts';
const peers = 'src/detect/peers/peers.ts';
const borrowed = 'src/baseline/borrowed-baseline.ts';
const tests = [
  'test/detect/new-version.test.ts',
  'test/detect/peers/peers.test.ts',
  'test/detect/peers/baseline-loan.test.ts',
];

/** Bugs of series that begin because a dimension got a new value. */
export const releaseMutants: readonly PlantedMutant[] = [
  {
    name: 'new-version-judged-by-nobody',
    bug: 'a version that is new has no baseline: slow from its first request, it is never reported',
    file: loan,
    find: 'return this.borrowed ?? own;',
    replace: 'return own;',
    tests,
  },
  {
    name: 'compared-with-the-version-before-for-good',
    bug: 'a new version never gets a baseline of its own',
    file: loan,
    find: 'return !isOpen && isKnown && window.windowStartMs - own.firstMs >= baseline;',
    replace: 'return !isOpen && isKnown && window.windowStartMs - own.firstMs < 0;',
    tests,
  },
  {
    name: 'slow-version-lends-its-past',
    bug: 'a version that is reported as slow is the baseline of the next one: as slow, that is not reported',
    file: loan,
    find: 'return this.#hasShown && !isOpen ? own : undefined;',
    replace: 'return own;',
    tests,
  },
  {
    name: 'canary-held-against-this-morning',
    bug: 'what a canary is compared with is never renewed: when all get slower by the hour, it is to blame',
    file: 'src/detect/tail/series-detectors.ts',
    find: '    this.#renewBorrowed(startMs);\n',
    replace: '    if (startMs < 0) this.#renewBorrowed(startMs);\n',
    tests,
  },
  {
    name: 'new-version-judged-by-itself',
    bug: 'a new version lends its own first minutes to itself once the one before is gone',
    file: peers,
    find: 'live.filter(({ borrowed }) => borrowed === undefined)',
    replace: 'live.filter(() => true)',
    tests,
  },
  {
    name: 'any-request-type-is-a-peer',
    bug: 'a new request type is compared with another one, whose requests are smaller',
    file: peers,
    find: "  ['version', 'host', 'region'],",
    replace: "  ['version', 'host', 'region', 'request_type'],",
    tests,
  },
  {
    name: 'gone-version-before-a-live-one',
    bug: 'a version that was switched off lends its baseline though another one runs beside',
    file: peers,
    find: 'const lending = live.length > 0 ? live : lenders;',
    replace: 'const lending = lenders;',
    tests,
  },
  {
    name: 'each-slow-release-pages',
    bug: 'a slowdown that stays is a page with every release',
    file: 'src/detect/incident/nearest-incident.ts',
    find: '  if (isSuccessor(incident, event)) return true;\n',
    replace: '  if (isSuccessor(incident, event)) return false;\n',
    tests,
  },
  {
    name: 'rolled-back-release-hides-the-next',
    bug: 'a release that was rolled back while it was slow hides the next one that is as slow',
    file: 'src/baseline/recurrence/daily-recurrence.ts',
    find: '    this.#past = [...other.#past];\n',
    replace:
      '    this.#past = [...other.#past, ...(other.#current === undefined ? [] : [other.#current])];\n',
    tests,
  },
  {
    name: 'slow-start-of-each-release-pages',
    bug: 'caches are cold for the first minute of each release, and each pages',
    file: 'src/baseline/recurrence/recurrences.ts',
    find: 'return Math.max(ofDay, this.#byRelease.threshold(atMs, varianceInflation));',
    replace: 'return ofDay;',
    tests,
  },
  {
    name: 'busy-version-counts-as-much-as-an-idle-one',
    bug: 'the baseline of several versions is that of the first, whatever the others take',
    file: borrowed,
    find: 'const isOne = references.length === 1;',
    replace: 'const isOne = references.length >= 1;',
    tests,
  },
];
