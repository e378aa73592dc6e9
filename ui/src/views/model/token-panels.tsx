import { firstTokenNames, gapStage, measures } from '../../../../src/base/dimensions.ts';
import {
  countedNoun,
  perUnit,
  stageLabel,
  stageWord,
} from '../../../../src/contract/measure-unit.ts';
import { TailFan } from '../../charts/fan/tail-fan.tsx';
import { fanOf } from '../../charts/geometry/fan.ts';
import type { AnomaliesAnswer, KnownStage, TailRow, TailsAnswer } from '../../data/answers.ts';
import { type Asked, useAnswer } from '../../data/use-answer.ts';
import { shownName } from '../../format/name.ts';
import { boundPrefix, formatMs, quantileName } from '../../format/number.ts';
import { Panel } from '../../parts/panel.tsx';
import { windowsNote } from '../../parts/windows-note.tsx';
import { hrefWith } from '../../state/place.ts';
import { laneIncidents } from '../lane.ts';
import { noRequests } from '../no-requests.ts';
import { fanTable } from '../tables.ts';
import { mainQuantile, modelQuestion, sideQuantiles } from './model-question.ts';

interface Props {
  readonly model: string;
  readonly stages: readonly KnownStage[];
  readonly anomalies: Asked<AnomaliesAnswer>;
}

/** Drawn in this order, beside the total. */
const drawnMeasures: readonly string[] = [measures.timePerOutputToken, gapStage];
const firstTokens: readonly string[] = firstTokenNames;
const mostMilestones = 2;

/** Tails of the first token, of times between tokens and of the whole request, each on its own axis. */
export function TokenPanels({ model, stages, anomalies }: Props) {
  const answered = useAnswer<TailsAnswer>(
    modelQuestion('tails', model, { by: 'stage', q: sideQuantiles.join() }),
  );
  const all = answered.value.answer?.rows ?? [];
  const rows = namesOf(stages).flatMap((name) => all.filter(({ by }) => by === name));
  if (rows.length === 0) return null;
  return (
    <div class="columns columns-tails" data-count={rows.length}>
      {rows.map((row) => (
        <SmallTail key={row.by} {...{ model, row, anomalies }} />
      ))}
    </div>
  );
}

/** Stages that stand side by side: milestones, the first token first; times of a token; the whole. */
function namesOf(stages: readonly KnownStage[]): readonly string[] {
  const milestones = stages
    .filter(({ kind }) => kind === 'milestone')
    .map(({ stage }) => stage)
    .toSorted((a, b) => Number(firstTokens.includes(b)) - Number(firstTokens.includes(a)));
  return [...milestones.slice(0, mostMilestones), ...drawnMeasures, 'total'];
}

interface SmallTailProps extends Pick<Props, 'model' | 'anomalies'> {
  readonly row: TailRow;
}

function SmallTail({ model, row, anomalies }: SmallTailProps) {
  const stage = row.by;
  const answered = useAnswer<TailsAnswer>(
    modelQuestion('tails', model, {
      by: 'time',
      stage,
      q: sideQuantiles.join(),
      baseline_q: mainQuantile,
    }),
  );
  const { ms = null, at_least = false } = row.quantiles.find(({ q }) => q === mainQuantile) ?? {};
  const label = shownName(stageLabel(stage));
  return (
    <Panel
      name={`tail-of-${stage}`}
      title={
        <>
          <a href={hrefWith({ stage: stage === 'total' ? undefined : stage })} title={stage}>
            {shownName(stageWord(stage))}
          </a>
          {ms !== null &&
            `: ${quantileName(mainQuantile)} ${boundPrefix(at_least)}${formatMs(ms)}${perUnit(stage)}`}
        </>
      }
      answered={answered}
      minHeight={220}
      empty={(answer) => noRequests(answer, model)}
      partial={windowsNote}
      table={fanTable}
    >
      {(answer) => (
        <TailFan
          label={`Percentiles of ${label} of ${model} over time`}
          fan={fanOf(answer)}
          overall={row}
          noun={countedNoun(stage)}
          mainQ={mainQuantile}
          hidden={new Set()}
          height={150}
          lane={{ incidents: laneIncidents(anomalies.value.answer), releases: [] }}
        />
      )}
    </Panel>
  );
}
