import type { AnomaliesAnswer, AnomalyRow } from '../../../../src/views/answers/anomalies.ts';
import type { ModelsAnswer } from '../../../../src/views/answers/models.ts';
import { questionPath, rangeParams, useAnswer } from '../../data/use-answer.ts';
import { plural } from '../../format/number.ts';
import { formatAge, formatTime } from '../../format/time.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { nowMs } from '../../state/now.ts';
import { onlyPanel } from '../../state/place.ts';
import { utc } from '../../state/zone.ts';
import { bySeverity, IncidentsPanel, OpenIncidents } from './incidents.tsx';
import { ModelsPanel } from './models-panel.tsx';

/** Whether anything is wrong, and where. */
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

/** `1 open: …` of the worst, or since when nothing is. */
function titleOf(rows: readonly AnomalyRow[]): string {
  const open = rows.filter(({ resolved_at }) => resolved_at === null);
  const [worst] = open.toSorted(bySeverity);
  const zone = { utc: utc.value, nowMs: nowMs() };
  if (worst !== undefined) {
    const since = formatTime(Date.parse(worst.started_at), zone);
    return `${open.length} open: ${worst.headline}, since ${since}`;
  }
  const ends = rows.map(({ resolved_at }) => Date.parse(resolved_at ?? ''));
  if (ends.length === 0) return 'No incident in this range';
  const last = formatAge(nowMs() - Math.max(...ends));
  return `Nothing open. ${plural(rows.length, 'incident')} in this range, the last until ${last} ago.`;
}
