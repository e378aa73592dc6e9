import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { type Fault, releasedVersion } from '../../../src/generate/fault.ts';

/** A fault of a fleet, and the expected contents of its event. */
export interface FaultCase {
  readonly name: string;
  readonly fault: Omit<Fault, 'fromMs' | 'forMs'>;
  readonly kind: AnomalyEvent['kind'];
  /** Stages that may be blamed; undefined where the fault is of no stage. */
  readonly stages?: readonly string[];
  /** True where an event names the cause; undefined where the stage is the whole cause. */
  readonly namesCause?: (event: AnomalyEvent) => boolean;
}

const model = 'ranker';
const host = 'ranker-eu-west-1-1';
const version = '2026-11-01';

/** True where one of the drivers is a value of a facet. */
const hasDriver = (facet: string, value: string) => (event: AnomalyEvent) =>
  event.drivers?.some((driver) => driver.facet === facet && driver.value === value) === true;
/** True where all affected series have a value of a dimension, or the single series does. */
const isOf = (dimension: 'version' | 'cold_start', value: string) => (event: AnomalyEvent) =>
  event.scope === undefined
    ? `${event[dimension]}` === value
    : event.scope.common.some((each) => each.dimension === dimension && each.value === value);
const isMix = ({ bottleneck }: AnomalyEvent) => bottleneck === 'traffic_mix';

/** One case of each kind, as in docs/how-to/generate.md. */
export const faultCases: readonly FaultCase[] = [
  {
    name: 'one bad host',
    fault: { kind: 'slow_stage', model, stage: 'forward', factor: 4, host },
    kind: 'tail_shift',
    stages: ['forward'],
    namesCause: hasDriver('host', host),
  },
  {
    name: 'a bad new version',
    fault: { kind: 'bad_version', model, factor: 2 },
    kind: 'tail_shift',
    stages: ['forward'],
    namesCause: isOf('version', version),
  },
  {
    name: 'a release that is slow from its first request',
    fault: { kind: 'release', model, factor: 3, share: 0.3 },
    kind: 'tail_shift',
    stages: ['forward'],
    namesCause: isOf('version', releasedVersion),
  },
  {
    name: 'cold starts by the dozen',
    fault: { kind: 'cold_starts', model, share: 0.3 },
    kind: 'cold_starts',
  },
  {
    name: 'the cache is lost',
    fault: { kind: 'cache_misses', model },
    kind: 'tail_shift',
    stages: ['features'],
    namesCause: hasDriver('cache_hit', 'miss'),
  },
  {
    name: 'a queue builds up',
    fault: { kind: 'queue', model, factor: 3, rampMs: 300_000 },
    kind: 'tail_shift',
    stages: ['queue'],
  },
  {
    name: 'the network is slow',
    fault: { kind: 'network', model, factor: 4 },
    kind: 'tail_shift',
    stages: ['ingress', 'downstream', 'egress'],
  },
  {
    name: 'larger requests',
    fault: { kind: 'big_requests', model, factor: 4, share: 0.5 },
    kind: 'tail_shift',
    namesCause: isMix,
  },
  {
    name: 'a stage drifts for an hour',
    fault: { kind: 'slow_stage', model, stage: 'features', factor: 2.5, rampMs: 3_600_000 },
    kind: 'tail_shift',
    stages: ['features'],
  },
  {
    name: 'errors',
    fault: { kind: 'errors', model, share: 0.1 },
    kind: 'error_rate',
  },
  {
    name: 'traffic falls to a third',
    fault: { kind: 'traffic', model, factor: 0.3 },
    kind: 'throughput_drop',
  },
  {
    name: 'traffic stops',
    fault: { kind: 'traffic', model, factor: 0 },
    kind: 'no_data',
  },
];

/** False where an event confuses slowness with mix. */
export function isMixRight({ namesCause }: FaultCase, event: AnomalyEvent): boolean {
  return isMix(event) === (namesCause === isMix);
}
