import type { AnomalyEvent } from '../../../../src/contract/anomaly-event.ts';
import { withDayOf } from '../../../../src/contract/as-of.ts';
import { splitOf } from '../../../../src/contract/blame-split.ts';
import { perUnit } from '../../../../src/contract/measure-unit.ts';
import { ofWorstSeries } from '../../../../src/contract/worst-series.ts';
import { BlameBars } from '../../charts/blame-bars.tsx';
import { DistributionChart } from '../../charts/distribution-chart.tsx';
import type { AnomalyAnswer } from '../../data/answers.ts';
import { type Asked, questionPath, useAnswer } from '../../data/use-answer.ts';
import { shownName } from '../../format/name.ts';
import {
  durationText,
  formatExactShare,
  formatSignedMs,
  quantileName,
  signedPercent,
  wholePercent,
} from '../../format/number.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { tableOf } from '../../parts/table-of.ts';
import { Sentence, Time, WithTimes } from '../../parts/time.tsx';
import { tickingNow } from '../../state/now.ts';
import { hrefTo, onlyPanel } from '../../state/place.ts';
import { utc } from '../../state/zone.ts';
import { endOf } from '../incident-end.ts';
import { SeverityTag } from '../open-incidents.tsx';
import { AffectedSeries } from './affected-series.tsx';
import { Drivers } from './drivers.tsx';
import { comparisonWithBefore, incidentRange } from './incident-question.ts';
import { IncidentRequests } from './incident-requests.tsx';
import { incidentTitle } from './incident-title.ts';
import { Timeline } from './timeline.tsx';

/** The incident: what is slow, since when, and the stage to blame. */
export function IncidentView({ id }: { readonly id: string }) {
  const answered = useAnswer<AnomalyAnswer>(
    questionPath(`anomalies/${encodeURIComponent(id)}`, {}),
  );
  const { answer } = answered.value;
  return (
    <>
      {onlyPanel.value === undefined && <IncidentHead id={id} answered={answered} />}
      <div class="columns columns-incident">
        <div class="stack">
          {answer === undefined ? <Waiting answered={answered} /> : <Timeline answer={answer} />}
          <DistributionPanel answered={answered} />
        </div>
        <div class="stack">
          <BlamePanel answered={answered} />
          <CommonPanel answered={answered} />
          <EvidencePanel answered={answered} />
        </div>
      </div>
      <AffectedSeries answered={answered} />
      {answer !== undefined && <IncidentRequests answer={answer} />}
      <History answered={answered} />
    </>
  );
}

interface Props {
  readonly answered: Asked<AnomalyAnswer>;
}

function IncidentHead({ id, answered }: Props & { readonly id: string }) {
  const { answer, failure } = answered.value;
  if (answer === undefined) {
    return (
      <PageTitle text={failure?.status === 404 ? `There is no incident ${id}` : `Incident ${id}`} />
    );
  }
  const { event, dashboard } = answer;
  const zone = { utc: utc.value, nowMs: tickingNow() };
  const state =
    event.resolved_at === null
      ? `open ${durationText(zone.nowMs - Date.parse(event.started_at))}`
      : 'resolved';
  const range = incidentRange(answer);
  const { model } = event;
  const accepted = deliveredTo(answer);
  const sides = comparisonWithBefore(answer);
  return (
    <>
      <PageTitle text={incidentTitle(answer, zone)}>
        <SeverityTag of={event} text={`${event.severity}, ${state}`} />
      </PageTitle>
      <p>
        <WithTimes text={withDayOf(event.summary, event)} />
      </p>
      {answer.lengths?.text != null && <p class="at-lengths">{answer.lengths.text}</p>}
      <p class="incident-links">
        {model !== '' && (
          <>
            <a
              href={hrefTo({ view: 'model', model }, { ...range, stage: dashboard.measured_stage })}
            >
              What {shownName(model)} is made of
            </a>
            {sides !== undefined && (
              <a href={hrefTo({ view: 'compare' }, sides)}>Compare with before</a>
            )}
          </>
        )}
        {event.runbook_url !== null && <a href={event.runbook_url}>Runbook</a>}
        <span class="hint">{accepted}</span>
      </p>
    </>
  );
}

function deliveredTo({ history }: AnomalyAnswer): string {
  const count = history.filter(({ what }) => what === 'delivery').length;
  return count === 0
    ? 'delivered to nobody'
    : `${count} ${count === 1 ? 'delivery' : 'deliveries'}: see events`;
}

function Waiting({ answered }: Props) {
  return (
    <Panel name="timeline" title="Timeline" answered={answered} minHeight={300}>
      {() => null}
    </Panel>
  );
}

function BlamePanel({ answered }: Props) {
  const parts = answered.value.answer && blameOf(answered.value.answer);
  const [first] = parts ?? [];
  const title =
    first === undefined || parts === undefined
      ? 'Blame'
      : `Blame: ${shownName(first.stage)} ${formatSignedMs(first.excess_ms)}${perUnit(first.stage)}${ofRise(answered.value.answer, parts)}`;
  return (
    <Panel
      name="blame"
      title={title}
      answered={answered}
      minHeight={120}
      empty={(answer) => blameOf(answer).length === 0 && 'No stage explains this kind of anomaly.'}
      table={(answer) => tableOf(blameOf(answer), ['stage', ['excess, ms', 'excess_ms'], 'share'])}
    >
      {(answer) => (
        <>
          <p class="hint">
            {blamedRequests(answer)}
            <AsOf answer={answer} />.
          </p>
          {effectsOf(answer) !== '' && <p class="hint">Effect: {effectsOf(answer)}</p>}
          <BlameBars label="Blame by stage" parts={blameOf(answer)} sumName="sum" />
        </>
      )}
    </Panel>
  );
}

/** Blame of the series that the title speaks of: of an incident the most affected. */
function blameOf({ event }: AnomalyAnswer) {
  return event.worst?.blame ?? event.blame;
}

/** ", 96 % of what rose; mean +410 ms"; nothing where a stage is blamed for its own rise. */
function ofRise(answer: AnomalyAnswer | undefined, parts: AnomalyEvent['blame']): string {
  const [first] = parts;
  if (first === undefined || answer === undefined || splitOfShown(answer) === 'quantile') return '';
  return `, ${wholePercent(first.share)} of what rose; mean ${formatSignedMs(riseOf(parts))}`;
}

/** What the blame splits, of the series that the title speaks of. */
function splitOfShown({ event }: Pick<AnomalyAnswer, 'event'>) {
  const { blame, evidence } = event.worst ?? event;
  return splitOf({ blame, evidence });
}

/** "total p99 +8 %": what the measured stage makes of the whole; '' where the total was measured. */
function effectsOf({ event, dashboard }: AnomalyAnswer): string {
  const { effects = [] } = event.worst ?? event;
  return effects
    .map(({ stage, ratio }) => {
      return `${shownName(stage)} ${quantileName(dashboard.quantile)} ${signedPercent(ratio)}`;
    })
    .join(', ');
}

/** The difference of the means: what rose, less what fell. */
function riseOf(parts: AnomalyEvent['blame']): number {
  return parts.reduce((sum, { excess_ms }) => sum + excess_ms, 0);
}

function blamedRequests({ event, dashboard }: AnomalyAnswer): string {
  if (event.kind === 'drift') return 'Mean request, against the week before';
  const of = event.worst === undefined ? '' : 'Most affected series: ';
  const measured = (event.worst ?? event).evidence.measured_stage;
  const what = {
    slowest: `slowest ${formatExactShare(1 - dashboard.quantile)} of requests`,
    day: 'slowest requests',
    milestone: `all requests, by part before ${measured}`,
    quantile: `${quantileName(dashboard.quantile)} of ${measured}`,
  }[splitOfShown({ event })];
  const slowest = `${what}, against the baseline`;
  return of === '' ? `${slowest.charAt(0).toUpperCase()}${slowest.slice(1)}` : `${of}${slowest}`;
}

/** ", as of 10:19:20": the end of the windows that the numbers of the event are of. */
function AsOf({ answer }: { readonly answer: AnomalyAnswer }) {
  const { measured_at } = ofWorstSeries(answer.event);
  if (measured_at === undefined) return null;
  return (
    <>
      , as of <Time at={measured_at} />
    </>
  );
}

function DistributionPanel({ answered }: Props) {
  return (
    <Panel
      name="distribution"
      title="All requests, before and during"
      answered={answered}
      minHeight={240}
      empty={({ distribution }) =>
        distribution.length === 0 && 'No request is stored of this time.'
      }
      partial={noBaseline}
      table={({ distribution }) =>
        tableOf(distribution, [['from, ms', 'from_ms'], 'before', 'during'])
      }
    >
      {(answer) => (
        <>
          <DistributionScope answer={answer} />
          <DistributionChart
            label="Requests by duration, before and during"
            bands={answer.distribution}
          />
        </>
      )}
    </Panel>
  );
}

/** Whose requests are drawn, and of which times. */
function DistributionScope({ answer }: { readonly answer: AnomalyAnswer }) {
  const { event, dashboard, series_count: count } = answer;
  const { from, to } = dashboard.before;
  const end = endOf(event);
  const seriesText = `Requests of the ${count > 1 ? `${count} ` : ''}affected series`;
  return (
    <p class="hint">
      {dashboard.whole_model ? 'Requests of the model' : seriesText}: before, <Time at={from} /> to{' '}
      <Time at={to} /> (baseline); during, <Time at={event.started_at} /> to{' '}
      {end === null ? 'now' : <Time at={end} />}.
      {event.rate === undefined &&
        dashboard.measured_stage !== 'total' &&
        ' Durations of whole requests.'}
    </p>
  );
}

/** The reason for an empty chart of before. */
function noBaseline({ distribution, dashboard }: AnomalyAnswer) {
  if (distribution.length === 0 || distribution.some(({ before }) => before > 0)) return undefined;
  const { from, to } = dashboard.before;
  return (
    <>
      No request of the baseline is stored: <Time at={from} /> to <Time at={to} />.
    </>
  );
}

function CommonPanel({ answered }: Props) {
  const isOfRate = answered.value.answer?.event.rate !== undefined;
  return (
    <Panel
      name="common"
      title={`What ${isOfRate ? 'affected series' : 'slow requests'} have in common`}
      answered={answered}
      empty={({ event, common }) =>
        (event.drivers ?? []).length === 0 &&
        common.length === 0 &&
        (event.rate === undefined
          ? 'No host, tenant or facet is more frequent among slow requests.'
          : 'The affected series share nothing that sets them apart.')
      }
      table={({ event }) =>
        tableOf(event.drivers ?? [], [
          ...(['facet', 'value'] as const),
          ['of slow requests', 'share_of_slow'],
          ['of all requests', 'share_of_all'],
        ])
      }
    >
      {({ event, common }) => <Drivers event={event} common={common} />}
    </Panel>
  );
}

function EvidencePanel({ answered }: Props) {
  return (
    <Panel name="evidence" title="Evidence" answered={answered}>
      {({ event, evidence, facts, dashboard }) => (
        <>
          <ul class="sentences">
            {evidence.map((text) => (
              <li key={text}>
                <Sentence text={text} />
              </li>
            ))}
          </ul>
          <details>
            <summary>All facts</summary>
            <dl class="facts">
              {facts.map(({ label, text }) => (
                <div key={label}>
                  <dt>{label}</dt>
                  <dd>
                    <WithTimes text={text} />
                  </dd>
                </div>
              ))}
              {event.kind === 'tail_shift' && (
                <div>
                  <dt>Measured</dt>
                  <dd>
                    {quantileName(dashboard.quantile)} of {dashboard.measured_stage}
                  </dd>
                </div>
              )}
            </dl>
          </details>
        </>
      )}
    </Panel>
  );
}

/** Every event of the incident, and what receivers answered. */
function History({ answered }: Props) {
  return (
    <Panel
      name="history"
      title="Event history"
      answered={answered}
      empty={({ history }) => history.length === 0 && 'No event is stored.'}
      table={({ history }) => tableOf(history, ['at', 'what', 'severity', 'text'])}
    >
      {({ history }) => (
        <ol class="history">
          {history.map(({ at, what, severity, text }, i) => (
            <li key={i} data-what={what}>
              <Time at={at} />
              <span class={what === 'delivery' || what === 'resolved' ? 'tag' : `tag ${severity}`}>
                {what}
              </span>
              <span>
                <WithTimes text={text} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}
