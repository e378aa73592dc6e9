import type { AnomalyAnswer } from '../../../../src/views/answers/anomalies.ts';
import type { RequestsAnswer } from '../../../../src/views/answers/requests.ts';
import { RequestList } from '../../charts/request-list.tsx';
import { useAnswer } from '../../data/use-answer.ts';
import { shownName } from '../../format/name.ts';
import { Panel } from '../../parts/panel.tsx';
import { endOf } from '../incident-end.ts';
import { requestsTable } from '../tables.ts';
import { incidentQuestion } from './incident-question.ts';

const totalStage = 'total';

/** The slowest requests in the stage to blame since the start of an incident of latency; of failures or traffic they say nothing. */
export function IncidentRequests({ answer }: { readonly answer: AnomalyAnswer }) {
  const { event, dashboard } = answer;
  const { rate } = event;
  const isSlow = rate === undefined || rate.unit === 'errors per request';
  const isShown = event.model !== '' && isSlow;
  const blamed = rate === undefined ? (event.blame[0]?.stage ?? null) : null;
  const stage = blamed === totalStage ? null : blamed;
  const answered = useAnswer<RequestsAnswer>(
    isShown
      ? incidentQuestion('requests', answer, {
          from: event.started_at,
          to: endOf(event) ?? dashboard.to,
          stage: stage ?? undefined,
        })
      : undefined,
  );
  if (!isShown) return null;
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
      empty={({ rows }) => (rows.length === 0 ? 'No request of this time is kept.' : undefined)}
      table={requestsTable}
    >
      {({ rows, failed, typical }) => (
        <RequestList
          caption={`Slowest requests of ${event.model}`}
          requests={rows}
          failed={failed}
          typical={typical}
          focus={event.blame[0]?.stage ?? null}
          stage={stage}
        />
      )}
    </Panel>
  );
}
