import { driftCases } from '../eval/drift/drift-cases.ts';
import { runDrift } from '../eval/drift/run-drift.ts';
import { runFlap } from '../eval/incidents/run-flap.ts';
import { runIncident } from '../eval/incidents/run-incident.ts';
import { nullFamilies } from '../eval/null-families.ts';
import { releaseCases } from '../eval/releases/release-cases.ts';
import { runReleases } from '../eval/releases/run-releases.ts';
import { runSeries } from '../eval/run-series.ts';
import { runPairs } from '../eval/second-faults/run-pairs.ts';
import { DurationTable } from '../eval/verdict/duration-law.ts';
import { runVerdict } from '../eval/verdict/run-verdict.ts';
import { verdictCases } from '../eval/verdict/verdict-cases.ts';

/** A run of the evaluation, by fixed seeds. */
export interface EvaluationRun {
  readonly name: string;
  /** What runs it: `npm test`, `npm run test:slow` or, as it takes minutes, `npm run golden` alone. */
  readonly by: 'test' | 'slow' | 'golden';
  /** Returns what is recorded beside the events that detectors emit. */
  readonly run: () => unknown;
}

const seed = 1;
const shortFamily = 'independent';

/** Series of each family with a fault after the other, on their second day. */
const faults = nullFamilies.map(
  ({ name: family }): EvaluationRun => ({
    name: `faults, ${family}`,
    by: family === shortFamily ? 'slow' : 'golden',
    run: () => {
      const { falsePages, faults } = runSeries({ family, seed, days: 2, faultsFromDay: 1 });
      return { falsePages, faults };
    },
  }),
);

/** Drifts open after weeks. */
const drifts = driftCases.map(
  ({ name }): EvaluationRun => ({
    name: `drift, ${name}`,
    by: 'golden',
    run: () => runDrift({ family: shortFamily, seed, days: 22, name }),
  }),
);

const flaps = ['outage ×10', 'tail ×3'].map(
  (kind, i): EvaluationRun => ({
    name: `on and off, ${kind}`,
    by: i === 0 ? 'test' : 'golden',
    run: () => runFlap(shortFamily, seed, kind).length,
  }),
);

const incidents = ['tail ×3', 'contention'].map(
  (kind, i): EvaluationRun => ({
    name: `for two hours, ${kind}`,
    by: i === 0 ? 'slow' : 'golden',
    run: () => {
      const { moved, apart, movedAfter, overAfterMs } = runIncident('diurnal', seed, kind, 2);
      return { moved, apart, movedAfter, overAfterMs };
    },
  }),
);

const releases = releaseCases.map(
  ({ name }, i): EvaluationRun => ({
    name: `release, ${name}`,
    by: i === 1 ? 'slow' : 'golden',
    run: () => runReleases({ family: shortFamily, seed, cases: [name] }),
  }),
);

const pairs = [1, 4].map(
  (pairCount, i): EvaluationRun => ({
    name: `second faults, ${pairCount}`,
    by: i === 0 ? 'test' : 'golden',
    run: () => {
      const { pairs, short } = runPairs({ seed, pairCount });
      return { pairs, short };
    },
  }),
);

/** Verdicts of two pairs of versions of each case. */
const verdicts: EvaluationRun = {
  name: 'verdicts',
  by: 'test',
  run: () =>
    verdictCases.map((each) => {
      const { law, variation, change, rates } = each;
      const table = new DurationTable(law);
      const outcomes = [seed, seed + 1].map((of) => runVerdict(each, table, of));
      return { of: [law.name, variation.name, change.name, rates], outcomes };
    }),
};

export const evaluationRuns = [
  ...faults,
  ...drifts,
  ...flaps,
  ...incidents,
  ...releases,
  ...pairs,
  verdicts,
];
