import type { AnomalyAnswer } from '../../data/answers.ts';
import type { Asked } from '../../data/use-answer.ts';
import { Panel } from '../../parts/panel.tsx';
import { tableOf } from '../../parts/table-of.ts';
import { Time } from '../../parts/time.tsx';

/** Every event of the incident, and what receivers answered. */
export function History({ answered }: { readonly answered: Asked<AnomalyAnswer> }) {
  return (
    <Panel
      name="history"
      title="Event history"
      answered={answered}
      empty={({ history }) => history.length === 0 && 'No event is stored.'}
      table={({ history }) => tableOf(history, ['at', 'what', 'severity', 'text'])}
    >
      {({ history }) => (
        <ol class="history">
          {history.map(({ at, what, severity, text }, i) => (
            <li key={i} data-what={what}>
              <Time at={at} />
              <span class={what === 'delivery' || what === 'resolved' ? 'tag' : `tag ${severity}`}>
                {what}
              </span>
              <span>{text}</span>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}
