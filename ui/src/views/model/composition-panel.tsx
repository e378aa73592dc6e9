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
import type { CompositionAnswer } from '../../data/answers.ts';
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
}

/** Parts of requests of each slowness: over the range, or the slowest over time. */
export function CompositionPanel({ model, answered, stagesOnly }: Props) {
  const isOverTime = place.value.params.by === 'time';
  const chosen = chosenStage();
  return (
    <>
      <Panel
        name="composition"
        title={<CompositionTitle answer={answered.value.answer} stage={chosen} />}
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
            {chosen !== null && (
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
      {isOverTime && <OverTimePanel {...{ model, stagesOnly }} whole={answered.value.answer} />}
    </>
  );
}

interface TitleProps {
  readonly answer: CompositionAnswer | undefined;
  /** Chosen stage; null for the largest one. */
  readonly stage: string | null;
}

/** "Requests beyond p99, 304 to 1,024 ms, take 322 ms: 59 % of it queue". */
function CompositionTitle({ answer, stage }: TitleProps) {
  const tail = tailSlice(answer?.rows ?? []);
  const largest = stage === null ? largestPart(tail) : partOf(tail, stage);
  if (tail === undefined || largest === null) return <>What requests are made of</>;
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

interface OverTimeProps {
  readonly model: string;
  readonly whole: CompositionAnswer | undefined;
  readonly stagesOnly: readonly string[];
}

function OverTimePanel({ model, whole, stagesOnly }: OverTimeProps) {
  const answered = useAnswer<CompositionAnswer>(
    modelQuestion('composition', model, { by: 'time' }),
  );
  return (
    <Panel
      name="composition-over-time"
      title="The slowest 1 % over time"
      answered={answered}
      minHeight={240}
      empty={(answer) => noRequests(answer, model, stagesOnly)}
      partial={windowsNote}
      table={compositionTable}
    >
      {({ rows, range }) => {
        const order = compositionOf(whole?.rows ?? rows, chosenStage());
        const grid = stepGridOf(range);
        return (
          <StackedAreasChart
            label={`Stages of the slowest requests of ${model} over time`}
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
