import { RequestList } from '../../charts/request-list.tsx';
import type { AnomalyAnswer, RequestsAnswer } from '../../data/answers.ts';
import { useAnswer } from '../../data/use-answer.ts';
import { shownName } from '../../format/name.ts';
import { Panel } from '../../parts/panel.tsx';
import { requestsTable } from '../tables.ts';
import { incidentQuestion } from './incident-question.ts';

/** The slowest requests in the stage to blame since the start of an incident of latency; of failures or traffic they say nothing. */
export function IncidentRequests({ answer }: { readonly answer: AnomalyAnswer }) {
  const { event, dashboard } = answer;
  const { slowest } = dashboard;
  const answered = useAnswer<RequestsAnswer>(
    slowest === null ? undefined : incidentQuestion('requests', answer, slowest),
  );
  if (slowest === null) return null;
  const stage = slowest.stage === '' ? null : slowest.stage;
  return (
    <Panel
      name="requests"
      title={
        stage === null
          ? 'Slowest requests of the incident'
          : `Requests of the incident that took longest in ${shownName(stage)}`
      }
      answered={answered}
      minHeight={120}
      empty={({ rows }) => rows.length === 0 && 'No request of this time is kept.'}
      table={requestsTable}
    >
      {({ rows, failed, typical }) => (
        <RequestList
          caption={`Slowest requests of ${event.model}`}
          requests={rows}
          failed={failed}
          typical={typical}
          focus={stage ?? event.blame[0]?.stage ?? null}
          stage={stage}
        />
      )}
    </Panel>
  );
}
