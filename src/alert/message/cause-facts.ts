import type { AnomalyEvent, Blamed, Bottleneck } from '../../detect/event/anomaly-event.ts';
import { formatMs } from '../../detect/event/anomaly-summary.ts';
import { formatShare } from '../../detect/event/format.ts';
import type { Fact } from './fact.ts';
import { kindWords, stageText } from './kind-words.ts';
import { ofWorstSeries } from './worst-series.ts';

/** Share of the excess from which a stage is listed. */
const shownShare = 0.05;
const stagesShown = 4;
const driversShown = 3;
const tracesShown = 3;
/** Growth of a value's share of all requests from which its baseline is shown. */
const muchMore = 1.5;

/** Where to look first, by the class of the cause. */
const lookFirst: Readonly<Record<Exclude<Bottleneck, 'unknown'>, string>> = {
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

/**
 * Facts that lead to the cause: stages, what slow requests share, where to look, traces.
 *
 * @param isSolved leaves out where to look: nobody has to.
 */
export function causeFacts(event: AnomalyEvent, { isSolved }: { isSolved: boolean }): Fact[] {
  const { bottleneck, kind } = event;
  const where = bottleneck === 'unknown' ? kindWords[kind].lookFirst : lookFirst[bottleneck];
  const worst = ofWorstSeries(event).stage;
  const look =
    worst === event.stage
      ? where
      : `the series blame different stages (${stageText(worst)}, ${stageText(event.stage)}): tailmark explain ${event.id}`;
  return [
    ...blameFact(event),
    ...driverFacts(event),
    ...(isSolved ? [] : [{ label: 'Look first', text: look }]),
    ...traceFact(event),
  ];
}

/** "slowest 1 % of requests: queue +190 ms (71 %), forward +60 ms (22 %), rest +18 ms (7 %)". */
function blameFact({ blame, kind, quantile, scope }: AnomalyEvent): Fact[] {
  if (blame.length === 0) return [];
  const shown = blame.filter(({ share }) => Math.abs(share) >= shownShare).slice(0, stagesShown);
  const rest = blame.filter((part) => !shown.includes(part));
  const parts = shown.map((part) => partText(stageText(part.stage), part));
  const sum = (field: 'excess_ms' | 'share') => rest.reduce((all, part) => all + part[field], 0);
  const others = { excess_ms: sum('excess_ms'), share: sum('share') };
  if (Math.abs(others.share) >= 0.01) parts.push(partText('rest', others));
  // A drift compares the mean of all requests, hour by hour.
  const whose =
    kind === 'drift' ? 'mean request' : `slowest ${formatShare(1 - quantile)} of requests`;
  const of = scope === undefined ? whose : `first series, ${whose}`;
  return [{ label: 'Blame', text: `${of}: ${parts.join(', ')}` }];
}

function partText(name: string, { excess_ms, share }: Pick<Blamed, 'excess_ms' | 'share'>): string {
  const sign = (value: number) => (value < 0 ? '−' : '');
  const percent = `${sign(share)}${Math.round(Math.abs(share) * 100)} %`;
  const ms = formatMs(Math.abs(excess_ms));
  return `${name} ${excess_ms < 0 ? '−' : '+'}${ms} (${percent})`;
}

/** What slow requests have more often than others, and whether requests have become larger. */
function driverFacts({ drivers = [], mix_share: mix }: AnomalyEvent): Fact[] {
  const percent = (part: number) => `${Math.round(part * 100)} %`;
  const texts = drivers.slice(0, driversShown).map((driver) => {
    const { facet, value, share_of_slow, share_of_all, baseline_share_of_all: before } = driver;
    const isMore = before !== undefined && share_of_all >= muchMore * before;
    const baseline = isMore ? `, baseline ${percent(before)}` : '';
    const name = facet.replaceAll('_', ' ');
    return `${percent(share_of_slow)} have ${name} ${value} (${percent(share_of_all)} of all requests${baseline})`;
  });
  return [
    ...(texts.length === 0 ? [] : [{ label: 'Slow requests', text: texts.join('; ') }]),
    ...(mix === undefined || mix < shownShare
      ? []
      : [{ label: 'Mix', text: `${percent(mix)} of the rise comes from more large requests` }]),
  ];
}

function traceFact({ exemplars }: AnomalyEvent): Fact[] {
  if (exemplars.length === 0) return [];
  return [{ label: 'Traces', text: exemplars.slice(0, tracesShown).join(' ') }];
}
