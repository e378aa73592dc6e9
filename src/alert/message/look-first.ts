import { totalStage } from '../../base/dimensions.ts';
import { type AnomalyEvent, type Bottleneck, unaccounted } from '../../contract/anomaly-event.ts';
import { blamedStage, stageText } from '../../contract/blame-text.ts';
import { classOfStage } from '../../contract/class-of-stage.ts';
import { kindWords } from './kind-words.ts';

/** The place to look first, by the class of the cause. */
const byClass: Readonly<Record<Exclude<Bottleneck, 'unknown'>, string>> = {
  queue: 'queue depth, concurrency and replicas of the model server',
  compute: 'accelerator and CPU load, batch sizes, and what was released last',
  feature: 'the feature store: its latency, timeouts and cache hits',
  network: 'network, proxies and TLS between client and server',
  downstream: 'the called services: their latency, timeouts and retries',
  serialization: 'request and response sizes, parsing, garbage collection',
  contention: 'whatever shares the hosts: CPU throttling, garbage collection, neighbours',
  cold_start: 'model loads: scaling, evictions, restarts',
  traffic_mix: 'what clients send: larger requests, no slower ones',
  mixed: 'what changed for several stages at once: hosts, releases, load',
};
/** Causes that concern whole requests: the stage that they show in is not what to look at. */
const ofWholeRequests: ReadonlySet<Bottleneck> = new Set(['cold_start', 'traffic_mix']);

/**
 * The place to look first. It follows from the blame: the stage that the title, the blame and the page name.
 *
 * @param event of one series: of an incident `ofWorstSeries`.
 */
export function lookFirst(event: AnomalyEvent): string {
  const { bottleneck, kind, rate } = event;
  const stage = blamedStage(event);
  if (bottleneck !== 'unknown' && ofWholeRequests.has(bottleneck)) return byClass[bottleneck];
  if (stage === unaccounted) {
    return 'traces of the slowest requests: no stage accounts for their time';
  }
  if (rate !== undefined || stage === totalStage || stage === '') return kindWords[kind].lookFirst;
  const ownClass = classOfStage.get(stage);
  const advice =
    ownClass === undefined
      ? `what ${stage} does and calls, and what was released last`
      : byClass[ownClass];
  // A drift comes slowly: there is more to look at than the stage.
  if (kind === 'drift') return `${advice}; then ${kindWords[kind].lookFirst}`;
  if (bottleneck === 'unknown' || bottleneck === ownClass) return advice;
  // Several stages together, or none of them alone: the blamed one comes first all the same.
  return `${stageText(stage)} first: ${advice}; then ${byClass[bottleneck]}`;
}
