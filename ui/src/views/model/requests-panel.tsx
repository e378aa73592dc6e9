import { useMemo } from 'preact/hooks';
import type { CompositionAnswer } from '../../../../src/views/answers/composition.ts';
import type { RequestsAnswer } from '../../../../src/views/answers/requests.ts';
import { compositionOf } from '../../charts/geometry/composition.ts';
import { RequestList } from '../../charts/request-list.tsx';
import { useAnswer } from '../../data/use-answer.ts';
import { formatMs } from '../../format/number.ts';
import { Panel } from '../../parts/panel.tsx';
import { requestsTable } from '../tables.ts';
import { modelQuestion } from './model-question.ts';

interface Props {
  readonly model: string;
  readonly stagesOnly: readonly string[];
  /** What the requests of the range are made of: its focus is that of the page. */
  readonly composition: CompositionAnswer | undefined;
}

/** The slowest requests of the range, with their stages. */
export function RequestsPanel({ model, stagesOnly, composition }: Props) {
  const focus = useMemo(() => compositionOf(composition?.rows ?? []).focus, [composition]);
  const answered = useAnswer<RequestsAnswer>(modelQuestion('requests', model));
  const totals = answered.value.answer?.rows.map(({ total_ms }) => total_ms) ?? [];
  return (
    <Panel
      name="requests"
      title={
        totals.length === 0
          ? 'Slowest requests'
          : `Slowest requests: up to ${formatMs(Math.max(...totals))}`
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
      {({ rows, typical }) => (
        <RequestList
          caption={`Slowest requests of ${model}`}
          requests={rows}
          typical={typical}
          focus={focus}
        />
      )}
    </Panel>
  );
}
