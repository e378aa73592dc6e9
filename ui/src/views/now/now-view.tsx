import type { AnomaliesAnswer, AnomalyRow, ModelsAnswer } from '../../data/answers.ts';
import { questionPath, rangeParams, useAnswer } from '../../data/use-answer.ts';
import { shownName } from '../../format/name.ts';
import { durationText, plural } from '../../format/number.ts';

import { PageTitle } from '../../parts/page-title.tsx';
import { nowMs } from '../../state/now.ts';
import { onlyPanel } from '../../state/place.ts';
import { endMsOf } from '../incident-end.ts';
import { IncidentsPanel, OpenIncidents } from './incidents.tsx';
import { ModelsPanel } from './models-panel.tsx';
import { byUrgency, isOpen } from './open-anomalies.ts';

/** The first page: says whether anything is wrong, and where. */
export function NowView() {
  const range = rangeParams();
  const models = useAnswer<ModelsAnswer>(questionPath('models', range));
  const anomalies = useAnswer<AnomaliesAnswer>(questionPath('anomalies', range));
  return (
    <>
      {onlyPanel.value === undefined && <NowTitle answer={anomalies.value.answer} />}
      <OpenIncidents answered={anomalies} />
      <ModelsPanel answered={models} anomalies={anomalies.value.answer} />
      <IncidentsPanel answered={anomalies} />
    </>
  );
}

function NowTitle({ answer }: { readonly answer: AnomaliesAnswer | undefined }) {
  if (answer === undefined) return <PageTitle text="Now" />;
  return <PageTitle text={titleOf(answer.rows)} />;
}

/** `2 open: ranker, llm`, the most urgent first, or since when nothing is. They are described below. */
function titleOf(rows: readonly AnomalyRow[]): string {
  const open = rows.filter(isOpen).toSorted(byUrgency);
  if (open.length > 0) {
    const models = [...new Set(open.map(subjectOf))];
    const more = models.length > namedModels ? ` and ${models.length - namedModels} more` : '';
    return `${open.length} open: ${models.slice(0, namedModels).join(', ')}${more}`;
  }
  const ends = rows.flatMap((row) => endMsOf(row) ?? []);
  if (ends.length === 0) return 'No incident in this range';
  const last = durationText(nowMs() - Math.max(...ends));
  return `Nothing open. ${plural(rows.length, 'incident')} in this range, the last until ${last} ago.`;
}

/** Models that the title names. */
const namedModels = 3;

function subjectOf({ kind, model }: AnomalyRow): string {
  if (kind === 'pipeline') return 'tailmark';
  return model === '' ? 'all models' : shownName(model);
}
