import { totalStage } from '../../base/dimensions.ts';
import { type AnomalyEvent, type Bottleneck, unaccounted } from '../../contract/anomaly-event.ts';
import { blamedStage, stageText } from '../../contract/blame-text.ts';
import { StageTable } from '../../contract/stage-table.ts';
import { kindWords } from './kind-words.ts';

/** The place to look first, by the class of the cause. */
const byClass: Readonly<Record<Exclude<Bottleneck, 'unknown'>, string>> = {
  queue: 'queue depth, concurrency and replicas of the model server',
  compute: 'accelerator and CPU load, batch sizes, and what was released last',
  feature: 'the feature store: its latency, timeouts and cache hits',
  network: 'network, proxies and TLS between client and server',
  downstream: 'the called services: their latency, timeouts and retries',
  serialization: 'request and response sizes, parsing, garbage collection',
  prefill: 'prompts: their lengths, prefix-cache hits, and what is batched with them',
  decode: 'lengths of answers, batch sizes, KV-cache use and preemptions of the model server',
  batching: 'the batch window, the largest batch, and how evenly requests come',
  transfer: 'copies between hosts and devices: KV cache, adapters, model loads',
  contention: 'whatever shares the hosts: CPU throttling, garbage collection, neighbours',
  cold_start: 'model loads: scaling, evictions, restarts',
  traffic_mix: 'what clients send: larger requests, no slower ones',
  mixed: 'what changed for several stages at once: hosts, releases, load',
};
/** The place to look first of a stage that nobody classed, and how to class it where it is blamed. */
function unclassed({ blame }: AnomalyEvent, stage: string): string {
  const advice = `what ${stage} does and calls, and what was released last`;
  if (blame.length === 0) return advice;
  const key = /^[A-Za-z0-9_-]+$/.test(stage) ? stage : JSON.stringify(stage);
  return `${advice} (stages.${key}.class of the configuration would say more)`;
}

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
  // Events of earlier versions have no class of a stage.
  const ownClass = event.blame[0]?.class ?? StageTable.standard.classOf(stage);
  const advice = ownClass === undefined ? unclassed(event, stage) : byClass[ownClass];
  // A drift comes slowly: there is more to look at than the stage.
  if (kind === 'drift') return `${advice}; then ${kindWords[kind].lookFirst}`;
  if (bottleneck === 'unknown' || bottleneck === ownClass) return advice;
  // Several stages together, or none of them alone: the blamed one comes first all the same.
  return `${stageText(stage)} first: ${advice}; then ${byClass[bottleneck]}`;
}
