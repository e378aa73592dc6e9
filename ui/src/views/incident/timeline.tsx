import { stageLabel } from '../../../../src/contract/measure-unit.ts';
import { TailFan } from '../../charts/fan/tail-fan.tsx';
import { fanOf } from '../../charts/geometry/fan.ts';
import type { Lane, LaneIncident } from '../../charts/parts/event-lane.tsx';
import type { AnomalyAnswer, ReleasesAnswer, TailsAnswer } from '../../data/answers.ts';
import { questionPath, useAnswer } from '../../data/use-answer.ts';
import { shownName } from '../../format/name.ts';
import { quantileName } from '../../format/number.ts';
import { Panel } from '../../parts/panel.tsx';
import { ShownRange, windowsNote } from '../../parts/windows-note.tsx';
import { endMsOf } from '../incident-end.ts';
import { laneReleases } from '../lane.ts';
import { fanTable } from '../tables.ts';
import { incidentQuestion, rangeWithoutFixed } from './incident-question.ts';
import { RateTimeline } from './rate-timeline.tsx';

/** The measured value over time, against its baseline: a rate, a quantile, or both of a burning budget. */
export function Timeline({ answer }: { readonly answer: AnomalyAnswer }) {
  const { event, dashboard } = answer;
  const { model, rate } = event;
  const isOfModel = model !== '';
  const answered = useAnswer<ReleasesAnswer>(
    isOfModel
      ? questionPath('releases', { from: dashboard.from, to: dashboard.to, model })
      : undefined,
  );
  if (!isOfModel) return null;
  const lane = {
    incidents: [laneIncident(answer)],
    releases: laneReleases(answered.value.answer, model, rangeWithoutFixed(answer)),
  };
  const isTail = rate === undefined || rate.unit === 'errors per request';
  return (
    <>
      {rate !== undefined && <RateTimeline {...{ answer, rate, lane }} />}
      {isTail && (
        <TailTimeline
          {...{ answer, lane }}
          name={rate === undefined ? 'timeline' : 'tail-timeline'}
        />
      )}
    </>
  );
}

interface TailProps {
  readonly answer: AnomalyAnswer;
  readonly name: string;
  readonly lane: Lane;
}

/** The quantile that was measured, over time, against its baseline. */
function TailTimeline({ answer, name, lane }: TailProps) {
  const { event, dashboard } = answer;
  const { measured_stage: stage, quantile } = dashboard;
  const { model } = event;
  const answered = useAnswer<TailsAnswer>(
    incidentQuestion('tails', answer, {
      by: 'time',
      stage,
      q: quantile === 0.5 ? '0.5' : `0.5,${quantile}`,
      baseline_q: quantile,
    }),
  );
  const what = `${quantileName(quantile)} of ${shownName(stage === 'total' ? model : `${stageLabel(stage)} of ${model}`)}`;
  return (
    <Panel
      name={name}
      title={`Timeline: ${what}`}
      answered={answered}
      minHeight={300}
      empty={({ rows }) =>
        rows.every(({ requests }) => requests === 0) && 'No request is stored of this time.'
      }
      partial={windowsNote}
      table={fanTable}
    >
      {(tails) => (
        <>
          <ShownRange answer={tails} />
          <TailFan
            label={`${what} over time`}
            fan={fanOf(tails)}
            overall={null}
            mainQ={quantile}
            hidden={nothing}
            lane={lane}
            height={240}
          />
        </>
      )}
    </Panel>
  );
}

const nothing: ReadonlySet<number> = new Set();

function laneIncident({ event, headline }: AnomalyAnswer): LaneIncident {
  return {
    id: event.id,
    title: headline,
    href: '#evidence',
    severity: event.severity,
    fromMs: Date.parse(event.started_at),
    toMs: endMsOf(event),
  };
}
