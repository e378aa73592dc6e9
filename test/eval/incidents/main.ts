import { parseArgs } from 'node:util';
import { firstSeed } from '../seed-ranges.ts';
import { renderIncidents } from './render-incidents.ts';
import { runDelay, slowParts } from './run-delay.ts';
import { runFaults } from './run-faults.ts';
import { runFlap } from './run-flap.ts';
import { runIncident } from './run-incident.ts';

// npm run eval -- incidents [--seeds tuning|reporting] [--count N] [--verbose], run by ../run.js:
// intermittent faults, incidents of a day, the delay of the worst, and the cost of digests against single
// requests.

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: 'tuning' },
    /** Series of each family. */
    count: { type: 'string', default: '2' },
    verbose: { type: 'boolean', default: false },
  },
});
const first = firstSeed(values.seeds);
const seeds = Array.from({ length: Number(values.count) }, (_, i) => first + i);
/** More of them cost little, since each ends with its fault. */
const delaySeries = 12;
const families = ['independent', 'swing of ten minutes', 'diurnal'];
/** Families in which some hours are another time of day. */
const daily = ['diurnal', 'weekly', 'dst'];
const say = (text: string) => {
  if (values.verbose) process.stderr.write(`${text}\n`);
};

/** Runs one outcome a series of each family, by kind. */
function ofEach<Outcome>(
  kinds: readonly string[],
  run: (family: string, seed: number, kind: string) => Outcome,
  of = families,
) {
  return kinds.map((kind) => ({
    kind,
    outcomes: of.flatMap((family) =>
      seeds.map((seed) => {
        const outcome = run(family, seed, kind);
        say(`${kind}, ${family} ${seed}: ${JSON.stringify(outcome, shown)}`);
        return outcome;
      }),
    ),
  }));
}

/** Shows events by their summaries. */
function shown(_key: string, value: unknown): unknown {
  const isEvent = typeof value === 'object' && value !== null && 'emitted_at' in value;
  if (!isEvent || !('state' in value) || !('summary' in value)) return value;
  return `${value.emitted_at} ${value.state}: ${value.summary}`;
}

const flaps = ofEach(['outage ×10', 'stage ×2', 'tail ×10', 'tail ×3'], runFlap);
const lasting = ['outage ×10', 'stage ×2', 'tail ×3', 'tail ×5', 'tail ×2', 'contention'];
const ofADay = ofEach(lasting, (family, seed, kind) => runIncident(family, seed, kind));
const ofHours = ofEach(
  ['stage ×2', 'tail ×5', 'tail ×2', 'contention'],
  (family, seed, kind) => runIncident(family, seed, kind, 8),
  daily,
);
const incidents = [
  ...ofADay.map((each) => ({ ...each, lasts: 'a day' })),
  ...ofHours.map((each) => ({ ...each, lasts: 'eight hours, where noon is not as midnight' })),
];
const delays = slowParts.map((part) => ({
  part,
  outcomes: Array.from({ length: delaySeries }, (_, i) => {
    const delayMs = runDelay(first + i, part);
    say(`${JSON.stringify(part)}, ${first + i}: emitted after ${delayMs} ms`);
    return delayMs;
  }),
}));
const digests = [...families, 'heavy tail'].map((family) => {
  const counts = [false, true].map((isRaw) => seeds.map((seed) => runFaults(family, seed, isRaw)));
  say(`${family}: ${JSON.stringify(counts)}`);
  return { family, stored: counts[0] ?? [], raw: counts[1] ?? [] };
});
process.stdout.write(renderIncidents({ flaps, incidents, delays, digests }));
