import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { seriesOf } from '../../series/series-key.ts';
import type { Series } from '../../series/series-window.ts';
import { cleanText } from './clean-text.ts';

/** Longest texts of an event in a message, in characters. Longer ones would push facts out of sight. */
const shownChars = {
  /** Of a model, version, host or facet value. */
  name: 64,
  stage: 32,
  /** Of the detector's sentence, after long names in it were cut. */
  summary: 500,
  traceId: 128,
} as const;

const cleanName = (text: string) => cleanText(text, shownChars.name);
const cleanStage = (text: string) => cleanText(text, shownChars.stage);

/**
 * Cleans all names of an event that come from the traffic: models, stages, hosts, facet values, trace
 * ids. They are text for people from here on; keys and the query are unchanged.
 */
export function cleanEvent(event: AnomalyEvent): AnomalyEvent {
  const { scope, members, worst, drivers, slo, severity_reason, recovered } = event;
  return {
    ...event,
    ...cleanSeries(event),
    stage: cleanStage(event.stage),
    ...cleanMeasured(event),
    ...(worst && { worst: { ...worst, ...cleanMeasured(worst) } }),
    ...(recovered && { recovered: { ...recovered, stage: cleanStage(recovered.stage) } }),
    ...(slo && { slo: { ...slo, name: cleanName(slo.name) } }),
    ...(drivers && {
      drivers: drivers.map((driver) => ({ ...cleanValue(driver), facet: cleanName(driver.facet) })),
    }),
    ...(scope && {
      scope: {
        ...scope,
        common: scope.common.map(cleanValue),
        values: scope.values.map(cleanValue),
      },
    }),
    ...(members && {
      members: members.map((member) => ({
        ...member,
        ...cleanSeries(member),
        stage: cleanStage(member.stage),
        ...(member.measured_stage && { measured_stage: cleanStage(member.measured_stage) }),
      })),
    }),
    exemplars: event.exemplars.map((id) => cleanText(id, shownChars.traceId)),
    summary: cleanSentence(event.summary, event),
    ...(severity_reason !== undefined && {
      severity_reason: cleanSentence(severity_reason, event),
    }),
  };
}

function cleanSeries(series: Series): Series {
  const { cold_start, ...names } = seriesOf(series);
  const cleaned = Object.entries(names).map(([name, value]) => [name, cleanName(value ?? '')]);
  return { ...(Object.fromEntries(cleaned) as typeof names), cold_start };
}

/** Evidence and blame, with clean stages and values. */
function cleanMeasured({ evidence, blame }: Pick<AnomalyEvent, 'evidence' | 'blame'>) {
  return {
    evidence: {
      ...evidence,
      measured_stage: cleanStage(evidence.measured_stage),
      ...(evidence.baseline_of && { baseline_of: evidence.baseline_of.map(cleanValue) }),
    },
    blame: blame.map((part) => ({ ...part, stage: cleanStage(part.stage) })),
  };
}

function cleanValue<T extends { readonly value: string }>(has: T): T {
  return { ...has, value: cleanName(has.value) };
}

/** A sentence of the detector with each long name in it cut, so that the numbers after it remain. */
function cleanSentence(sentence: string, event: AnomalyEvent): string {
  const names = [event, ...(event.members ?? [])].flatMap((each) => [
    ...Object.values(seriesOf(each)).filter((value) => typeof value === 'string'),
    each.stage,
  ]);
  const others = [
    event.evidence.measured_stage,
    ...event.blame.map(({ stage }) => stage),
    ...(event.worst?.blame ?? []).map(({ stage }) => stage),
    ...(event.scope?.common ?? []).map(({ value }) => value),
    ...(event.evidence.baseline_of ?? []).map(({ value }) => value),
  ];
  const long = [...new Set([...names, ...others])]
    .filter((name) => name.length > shownChars.name)
    .sort((a, b) => b.length - a.length);
  let text = sentence;
  for (const name of long) text = text.replaceAll(name, () => cleanName(name));
  return cleanText(text, shownChars.summary);
}
