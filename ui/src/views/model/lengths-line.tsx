import type { FacetsAnswer, LengthsAnswer } from '../../data/answers.ts';
import { useAnswer } from '../../data/use-answer.ts';
import { hrefTo } from '../../state/place.ts';
import { sidesOf } from '../../state/sides-of.ts';
import { facetsQuestion, mainQuantile, modelQuestion } from './model-question.ts';

/** The tail with answers as long as a week earlier; nothing where it would not differ, or nobody knows lengths. */
export function LengthsLine({ model }: { readonly model: string }) {
  const facets = useAnswer<FacetsAnswer>(facetsQuestion(model));
  const tokens = facets.value.answer?.tokens ?? [];
  const hasLengths = tokens.some(({ facet }) => facet === 'output_tokens');
  const answered = useAnswer<LengthsAnswer>(
    hasLengths ? modelQuestion('lengths', model, { q: `${mainQuantile}` }) : undefined,
  );
  const { rows = [], earlier = null, range } = answered.value.answer ?? {};
  const text = rows[0]?.text ?? null;
  if (text === null || earlier === null || range === undefined) return null;
  const sides = sidesOf({ a: spanOf(earlier), b: spanOf(range) });
  return (
    <ul class="sentences at-lengths">
      <li>
        {text} <a href={hrefTo({ view: 'compare' }, { model, ...sides })}>Compare both</a>
      </li>
    </ul>
  );
}

function spanOf({ from, to }: { readonly from: string; readonly to: string }) {
  return { fromMs: Date.parse(from), toMs: Date.parse(to) };
}
