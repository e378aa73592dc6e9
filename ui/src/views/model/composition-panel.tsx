import { stageLabel } from '../../../../src/contract/measure-unit.ts';
import { CompositionBars } from '../../charts/composition/composition-bars.tsx';
import { sliceEdges, sliceName } from '../../charts/composition/slice-name.ts';
import { StackedAreasChart } from '../../charts/composition/stacked-areas.tsx';
import {
  compositionOf,
  stackedAreasOf,
  tailPlace,
  tailSlice,
} from '../../charts/geometry/composition.ts';
import { stepGridOf } from '../../charts/geometry/step-grid.ts';
import type { CompositionAnswer, KnownStage, SliceRow } from '../../data/answers.ts';
import { type Asked, useAnswer } from '../../data/use-answer.ts';
import { shownName } from '../../format/name.ts';
import { formatMs } from '../../format/number.ts';
import { Panel } from '../../parts/panel.tsx';
import { windowsNote } from '../../parts/windows-note.tsx';
import { place, setParams } from '../../state/place.ts';
import { noRequests } from '../no-requests.ts';
import { compositionTable } from '../tables.ts';
import { chosenStage, modelQuestion } from './model-question.ts';
import { largestPart, partOf } from './model-title.ts';

interface Props {
  readonly model: string;
  readonly answered: Asked<CompositionAnswer>;
  readonly stagesOnly: readonly string[];
  /** Of the chosen stage. */
  readonly kind: KnownStage['kind'] | 'total';
}

/** Parts of requests of each slowness: over the range, or the slowest over time. */
export function CompositionPanel({ model, answered, stagesOnly, kind }: Props) {
  const isOverTime = place.value.params.by === 'time';
  const chosen = kind === 'part' ? chosenStage() : null;
  const milestone = kind === 'milestone' ? chosenStage() : null;
  return (
    <>
      <Panel
        name="composition"
        title={<CompositionTitle answer={answered.value.answer} {...{ chosen, milestone }} />}
        answered={answered}
        minHeight={150}
        tools={
          <button
            type="button"
            class="small"
            aria-pressed={isOverTime}
            onClick={() => setParams({ by: isOverTime ? undefined : 'time' })}
          >
            Over time
          </button>
        }
        empty={(answer) => noRequests(answer, model, stagesOnly)}
        partial={windowsNote}
        table={compositionTable}
      >
        {({ rows }) => (
          <>
            {milestone !== null && <MilestoneNote {...{ milestone, rows }} />}
            {milestone === null && kind !== 'total' && (
              <p class="hint">
                Requests by how slow they are as a whole: that is how times of stages are kept.
              </p>
            )}
            <CompositionBars
              label={`What requests of ${model} are made of`}
              composition={compositionOf(rows, chosen)}
            />
          </>
        )}
      </Panel>
      {isOverTime && (
        <OverTimePanel
          {...{ model, stagesOnly, chosen, milestone }}
          whole={answered.value.answer}
        />
      )}
    </>
  );
}

interface Chosen {
  /** Chosen part; null for the largest one. */
  readonly chosen: string | null;
  /** Chosen milestone, which is made of the parts before it. */
  readonly milestone: string | null;
}

/** The slowest requests by a milestone are known one by one only. */
function MilestoneNote(of: { readonly milestone: string; readonly rows: readonly SliceRow[] }) {
  const name = shownName(stageLabel(of.milestone));
  const isOver = of.rows.some(({ parts }) => parts.some(({ mean_ms }) => mean_ms < 0));
  return (
    <p class="hint">
      The mean of all requests, with the parts before {name}. Times are kept by how slow a request
      is as a whole, so the slowest by {name} stand below, one by one.
      {isOver && ` Requests without ${name} have these parts, too: they are longer than it.`}
    </p>
  );
}

interface TitleProps extends Chosen {
  readonly answer: CompositionAnswer | undefined;
}

/** "Requests beyond p99, 304 to 1,024 ms, take 322 ms: 59 % of it queue". */
function CompositionTitle({ answer, chosen, milestone }: TitleProps) {
  const tail = tailSlice(answer?.rows ?? []);
  const largest = chosen === null ? largestPart(tail) : partOf(tail, chosen);
  if (tail === undefined || largest === null) return <>What requests are made of</>;
  if (milestone !== null) {
    return (
      <>
        {shownName(stageLabel(milestone))} takes {formatMs(tail.mean_ms)} on average:{' '}
        {Math.round(largest.share * 100)} % of it {shownName(largest.stage)}
      </>
    );
  }
  const where = tail.to_share === 1 ? undefined : tailPlace(tail);
  const name =
    where === undefined ? sliceName(tail) : `requests ${where} p99, ${sliceEdges(tail)},`;
  return (
    <>
      {name.charAt(0).toUpperCase() + name.slice(1)} take {formatMs(tail.mean_ms)}:{' '}
      {Math.round(largest.share * 100)} % of it {shownName(largest.stage)}
    </>
  );
}

interface OverTimeProps extends Chosen {
  readonly model: string;
  readonly whole: CompositionAnswer | undefined;
  readonly stagesOnly: readonly string[];
}

function OverTimePanel({ model, whole, stagesOnly, chosen, milestone }: OverTimeProps) {
  const answered = useAnswer<CompositionAnswer>(
    modelQuestion('composition', model, { by: 'time', stage: milestone ?? undefined }),
  );
  return (
    <Panel
      name="composition-over-time"
      title={
        milestone === null
          ? 'The slowest 1 % over time'
          : `${shownName(stageLabel(milestone))} of all requests over time`
      }
      answered={answered}
      minHeight={240}
      empty={(answer) => noRequests(answer, model, stagesOnly)}
      partial={windowsNote}
      table={compositionTable}
    >
      {({ rows, range }) => {
        const order = compositionOf(whole?.rows ?? rows, chosen);
        const grid = stepGridOf(range);
        return (
          <StackedAreasChart
            label={`Stages of ${milestone === null ? 'the slowest' : 'all'} requests of ${model} over time`}
            of={milestone === null ? 'Slowest slice' : 'All requests'}
            areas={stackedAreasOf(rows, order.stages, grid)}
            grid={grid}
            stages={order.stages}
            focus={order.focus}
          />
        );
      }}
    </Panel>
  );
}
