import type { AnomalyAnswer } from '../../../../src/views/answers/anomalies.ts';
import type { RequestsAnswer } from '../../../../src/views/answers/requests.ts';
import { RequestList } from '../../charts/request-list.tsx';
import { useAnswer } from '../../data/use-answer.ts';
import { Panel } from '../../parts/panel.tsx';
import { requestsTable } from '../tables.ts';
import { incidentQuestion } from './incident-question.ts';

/** The slowest requests since the start of an incident of latency; of failures or traffic they say nothing. */
export function IncidentRequests({ answer }: { readonly answer: AnomalyAnswer }) {
  const { event, dashboard } = answer;
  const { rate } = event;
  const isSlow = rate === undefined || rate.unit === 'errors per request';
  const isShown = event.model !== '' && isSlow;
  const answered = useAnswer<RequestsAnswer>(
    isShown
      ? incidentQuestion('requests', answer, {
          from: event.started_at,
          to: event.resolved_at ?? dashboard.to,
        })
      : undefined,
  );
  if (!isShown) return null;
  return (
    <Panel
      name="requests"
      title="Slowest requests of the incident"
      answered={answered}
      minHeight={120}
      empty={({ rows }) => (rows.length === 0 ? 'No request of this time is kept.' : undefined)}
      table={requestsTable}
    >
      {({ rows, typical }) => (
        <RequestList
          caption={`Slowest requests of ${event.model}`}
          requests={rows}
          typical={typical}
          focus={event.blame[0]?.stage ?? null}
        />
      )}
    </Panel>
  );
}
