import type { Rate } from '../../../../src/contract/anomaly-event.ts';
import {
  thresholdsOfEvent,
  thresholdsText,
} from '../../../../src/contract/objectives/objective-text.ts';
import { rateLineOf } from '../../charts/geometry/rate.ts';
import type { Lane } from '../../charts/parts/event-lane.tsx';
import { RateChart } from '../../charts/rate-chart.tsx';
import type { AnomalyAnswer, TailsAnswer } from '../../data/answers.ts';
import { useAnswer } from '../../data/use-answer.ts';
import { shownName } from '../../format/name.ts';
import { Panel } from '../../parts/panel.tsx';
import { ShownRange, windowsNote } from '../../parts/windows-note.tsx';
import { incidentQuestion } from './incident-question.ts';
import { rateBaseline, rateStart, rateTable, shownRate } from './incident-rate.ts';

interface Props {
  readonly answer: AnomalyAnswer;
  readonly rate: Rate;
  readonly lane: Lane;
}

/** The anomalous rate over time, against its baseline: whether it is over. */
export function RateTimeline({ answer, rate, lane }: Props) {
  const { event, dashboard } = answer;
  const { measure, title } = shownRate(rate);
  const question = { by: 'time', stage: dashboard.measured_stage, q: '0.5' };
  const start = rateStart(rate);
  const answered = useAnswer<TailsAnswer>(
    incidentQuestion('tails', answer, start === undefined ? question : { ...question, start }),
  );
  const cold = useAnswer<TailsAnswer>(
    measure === 'cold'
      ? incidentQuestion('tails', answer, { ...question, start: 'cold' })
      : undefined,
  );
  const baseline = rateBaseline(event);
  const coldRows = cold.value.answer?.rows;
  const lineOf = (tails: TailsAnswer) =>
    rateLineOf(tails, measure, baseline?.value ?? null, coldRows);
  const what = `${title} of ${shownName(event.model)}`;
  return (
    <Panel
      name="timeline"
      title={`Timeline: ${what}`}
      answered={answered}
      minHeight={300}
      empty={({ rows }) =>
        measure !== 'per_second' &&
        rows.every(({ requests }) => requests === 0) &&
        'No request is stored of this time.'
      }
      partial={(tails) => noteOf(answer, tails)}
      table={(tails) => rateTable(tails, lineOf(tails))}
    >
      {(tails) =>
        measure === 'cold' && coldRows === undefined ? (
          <p class="notice waiting">Loading…</p>
        ) : (
          <>
            <ShownRange answer={tails} />
            <RateChart
              label={`${what} over time`}
              line={lineOf(tails)}
              baselineName={baseline?.name ?? ''}
              lane={lane}
            />
          </>
        )
      }
    </Panel>
  );
}

/** Says what a budget counts beyond failures, and which steps can still change. */
function noteOf({ event: { slo } }: AnomalyAnswer, tails: TailsAnswer) {
  const windows = windowsNote(tails);
  if (slo === undefined) return windows;
  const misses = slo.all === undefined ? 'over' : 'that miss one of';
  const text = `Requests ${misses} ${thresholdsText(thresholdsOfEvent(slo))}`;
  return `${text} count against the objective too: see the tail. ${windows ?? ''}`.trim();
}
