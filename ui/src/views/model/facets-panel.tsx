import { type FacetGroup, facetGroups, largestSpread } from '../../charts/geometry/facets.ts';
import { extentOf } from '../../charts/geometry/splits.ts';
import { SplitDots } from '../../charts/split-dots.tsx';
import type { FacetsAnswer } from '../../data/answers.ts';
import { useAnswer } from '../../data/use-answer.ts';
import { shownName } from '../../format/name.ts';
import { formatMs, quantileName } from '../../format/number.ts';
import { Panel } from '../../parts/panel.tsx';
import { place } from '../../state/place.ts';
import { facetsTable } from '../tables.ts';
import { facetsQuestion } from './model-question.ts';

interface Props {
  readonly model: string;
}

const named = (facet: string) => facet.replace(/^attributes\./, '').replaceAll('_', ' ');

/** Percentiles by host, by size of the request and of the answer, by load: by all that is stored of requests. */
export function FacetsPanel({ model }: Props) {
  const { version } = place.value.params;
  const answered = useAnswer<FacetsAnswer>(facetsQuestion(model));
  const groups = facetGroups(answered.value.answer?.rows ?? []);
  return (
    <Panel
      name="facets"
      title={<FacetsTitle groups={groups} />}
      answered={answered}
      minHeight={90}
      empty={({ rows }) =>
        rows.length === 0 &&
        'No request of this range has a host, a size or a load. Events may have these fields.'
      }
      table={facetsTable}
    >
      {(answer) => (
        <>
          <div class="columns columns-splits facet-tables">
            {groups.map(({ facet, rows }) => (
              <SplitDots
                key={facet}
                caption={`By ${named(facet)}`}
                name={sentence(named(facet))}
                rows={rows.map((row) => ({ ...row, by: row.value }))}
                extent={extentOf(answer.rows)}
                isOrdered
                isApproximate
              />
            ))}
          </div>
          <p class="hint">
            Whole requests of {version === undefined ? 'all versions' : shownName(version)}, in all
            regions, of all types, warm and cold, whatever is chosen above: facets are stored by
            model and version only. Percentiles are read from bands, within 25 %.
          </p>
        </>
      )}
    </Panel>
  );
}

/** "By input tokens p99 goes from 120 ms (64-127) to 1.4 s (2048-4095)". */
function FacetsTitle({ groups }: { readonly groups: readonly FacetGroup[] }) {
  const spread = largestSpread(groups);
  if (spread === undefined) return <>By size, host and load</>;
  const { facet, fastest, slowest, lowMs, highMs } = spread;
  const level = quantileName(slowest.quantiles.at(-1)?.q ?? 0.99);
  return (
    <>
      By {named(facet)}: {level} from ≈{formatMs(lowMs)} ({shownName(fastest.value)}) to ≈
      {formatMs(highMs)} ({shownName(slowest.value)})
    </>
  );
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
