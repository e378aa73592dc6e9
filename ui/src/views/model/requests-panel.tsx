import { useMemo } from 'preact/hooks';
import { stageLabel } from '../../../../src/contract/measure-unit.ts';
import { compositionOf } from '../../charts/geometry/composition.ts';
import { answeredRequests, RequestList } from '../../charts/request-list.tsx';
import type { CompositionAnswer, KnownStage, RequestsAnswer } from '../../data/answers.ts';
import { useAnswer } from '../../data/use-answer.ts';
import { shownName } from '../../format/name.ts';
import { formatMs } from '../../format/number.ts';
import { Panel } from '../../parts/panel.tsx';
import { requestsTable } from '../tables.ts';
import { chosenStage, modelQuestion } from './model-question.ts';

interface Props {
  readonly model: string;
  readonly stagesOnly: readonly string[];
  /** Of the chosen stage. */
  readonly kind: KnownStage['kind'] | 'total';
  /** Composition of the requests of the range: its focus is that of the page. */
  readonly composition: CompositionAnswer | undefined;
}

/** The slowest requests of the range with their stages: by their total, or by a stage that was chosen. */
export function RequestsPanel({ model, stagesOnly, kind, composition }: Props) {
  const chosen = chosenStage();
  const part = kind === 'part' ? chosen : null;
  const focus = useMemo(
    () => compositionOf(composition?.rows ?? [], part).focus,
    [composition, part],
  );
  const answered = useAnswer<RequestsAnswer>(
    modelQuestion('requests', model, { stage: chosen ?? undefined }),
  );
  const { answer } = answered.value;
  const [slowest] = answer === undefined ? [] : answeredRequests(answer);
  return (
    <Panel
      name="requests"
      title={
        chosen === null
          ? `Slowest requests${slowest === undefined ? '' : `: up to ${formatMs(slowest.total_ms)}`}`
          : `Requests that took longest in ${shownName(stageLabel(chosen))}${slowest === undefined ? '' : `: up to ${formatMs(slowest.stage_ms)}`}`
      }
      answered={answered}
      minHeight={160}
      empty={({ rows }) => {
        if (rows.length > 0) return undefined;
        return stagesOnly.length > 0
          ? 'Requests are kept where they have a total.'
          : 'No request of this range is kept.';
      }}
      table={requestsTable}
    >
      {({ rows, failed, typical }) => (
        <RequestList
          caption={`Slowest requests of ${model}`}
          requests={rows}
          failed={failed}
          typical={typical}
          focus={focus}
          stage={chosen}
        />
      )}
    </Panel>
  );
}
