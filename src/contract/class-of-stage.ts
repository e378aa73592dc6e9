import type { Bottleneck } from './anomaly-event.ts';

/** Classes of the stages with a standard name. */
export const classOfStage: ReadonlyMap<string, KnownClass> = new Map<string, KnownClass>([
  ['queue', 'queue'],
  ['forward', 'compute'],
  ['features', 'feature'],
  ['ingress', 'network'],
  ['egress', 'network'],
  ['downstream', 'downstream'],
  ['parse', 'serialization'],
  ['preprocess', 'serialization'],
  ['postprocess', 'serialization'],
]);
type KnownClass = Exclude<Bottleneck, 'unknown'>;
