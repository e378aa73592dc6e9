import { useMemo } from 'preact/hooks';
import type { AnomalyAnswer } from '../../../../src/views/answers/anomalies.ts';
import type { ReleasesAnswer } from '../../../../src/views/answers/releases.ts';
import type { TailsAnswer } from '../../../../src/views/answers/tails.ts';
import { TailFan } from '../../charts/fan/tail-fan.tsx';
import { fanOf } from '../../charts/geometry/fan.ts';
import { questionPath, useAnswer } from '../../data/use-answer.ts';
import { shownName } from '../../format/name.ts';
import { quantileName } from '../../format/number.ts';
import { Panel } from '../../parts/panel.tsx';
import { ShownRange, windowsNote } from '../../parts/windows-note.tsx';
import { laneReleases } from '../lane.ts';
import { fanTable } from '../tables.ts';
import { incidentQuestion } from './incident-question.ts';

/** The quantile that was measured, over time, against its baseline. */
export function Timeline({ answer }: { readonly answer: AnomalyAnswer }) {
  const { event, dashboard } = answer;
  const { measured_stage: stage, quantile } = dashboard;
  const { model } = event;
  const isOfModel = model !== '';
  const answered = useAnswer<TailsAnswer>(
    isOfModel
      ? incidentQuestion('tails', answer, {
          by: 'time',
          stage,
          q: quantile === 0.5 ? '0.5' : `0.5,${quantile}`,
          baseline_q: quantile,
        })
      : undefined,
  );
  const releases = useAnswer<ReleasesAnswer>(
    isOfModel
      ? questionPath('releases', { from: dashboard.from, to: dashboard.to, model })
      : undefined,
  );
  const what = `${quantileName(quantile)} of ${shownName(stage === 'total' ? model : `${stage} of ${model}`)}`;
  if (!isOfModel) return null;
  return (
    <Panel
      name="timeline"
      title={`Timeline: ${what}`}
      answered={answered}
      minHeight={300}
      empty={({ rows }) =>
        rows.every(({ requests }) => requests === 0)
          ? 'No request is stored of this time.'
          : undefined
      }
      partial={windowsNote}
      table={fanTable}
    >
      {(tails) => (
        <Chart what={what} answer={answer} tails={tails} releases={releases.value.answer} />
      )}
    </Panel>
  );
}

interface ChartProps {
  readonly what: string;
  readonly answer: AnomalyAnswer;
  readonly tails: TailsAnswer;
  readonly releases: ReleasesAnswer | undefined;
}

const nothing: ReadonlySet<number> = new Set();

function Chart({ what, answer, tails, releases }: ChartProps) {
  const { id, started_at, resolved_at, summary, severity, model } = answer.event;
  const fan = useMemo(() => fanOf(tails.rows, tails.range, tails.windows), [tails]);
  const flags = useMemo(() => laneReleases(releases, model), [releases, model]);
  const incidents = useMemo(
    () => [
      {
        id,
        title: summary,
        href: '#evidence',
        severity,
        fromMs: Date.parse(started_at),
        toMs: resolved_at === null ? null : Date.parse(resolved_at),
      },
    ],
    [id, summary, severity, started_at, resolved_at],
  );
  return (
    <>
      <ShownRange answer={tails} />
      <TailFan
        label={`${what} over time`}
        fan={fan}
        range={{ fromMs: Date.parse(tails.range.from), toMs: Date.parse(tails.range.to) }}
        overall={null}
        mainQ={answer.dashboard.quantile}
        hidden={nothing}
        incidents={incidents}
        releases={flags}
        height={240}
      />
    </>
  );
}
