import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { blamedStage, blameText, effectsText, stageText } from '../../contract/blame-text.ts';
import type { Fact } from './fact.ts';
import { lookFirst } from './look-first.ts';

/** Share of the additional slow requests from which the mix is shown. */
const shownShare = 0.05;
/** Stages that other series blame. */
const stagesShown = 4;
const driversShown = 3;
const tracesShown = 3;
/** Growth of a value's share of all requests from which its baseline is shown. */
const muchMore = 1.5;

/**
 * Facts that lead to the cause: stages, what slow requests share, where to look, traces.
 *
 * @param shown of one series: of an incident the most affected.
 * @param isSolved leaves out where to look: nobody has to.
 */
export function causeFacts(shown: AnomalyEvent, { isSolved }: { isSolved: boolean }): Fact[] {
  return [
    ...blameFact(shown),
    ...effectFact(shown),
    ...driverFacts(shown),
    ...(isSolved ? [] : [lookFact(shown)]),
    ...traceFact(shown),
  ];
}

/** The place to look first; other series of an incident may blame other stages. */
function lookFact(shown: AnomalyEvent): Fact {
  const stages = (shown.members ?? []).map(({ stage }) => stage);
  const others =
    shown.scope === undefined
      ? []
      : [...new Set(stages)].filter((stage) => stage !== blamedStage(shown)).slice(0, stagesShown);
  const more =
    others.length === 0 ? '' : `; other series blame ${others.map(stageText).join(', ')}`;
  return { label: 'Look first', text: `${lookFirst(shown)}${more}` };
}

/** "slowest 1 %: mean +254 ms; features +294 ms (100 % of what rose), queue −39.1 ms". */
function blameFact(shown: AnomalyEvent): Fact[] {
  const text = blameText(shown);
  if (text === '') return [];
  return [
    { label: 'Blame', text: shown.scope === undefined ? text : `most affected series, ${text}` },
  ];
}

/** "total p99 +8 %": what the measured stage makes of the whole. */
function effectFact(shown: AnomalyEvent): Fact[] {
  const text = effectsText(shown);
  return text === '' ? [] : [{ label: 'Effect', text }];
}

/** Values that slow requests have more often than others, and a change in the size of requests. */
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
      : [
          {
            label: 'Mix',
            text: `${percent(mix)} of the rise in slow requests comes from more large ones`,
          },
        ]),
  ];
}

function traceFact({ exemplars }: AnomalyEvent): Fact[] {
  if (exemplars.length === 0) return [];
  return [{ label: 'Traces', text: exemplars.slice(0, tracesShown).join(' ') }];
}
