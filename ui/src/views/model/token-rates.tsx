import type { FacetsAnswer, TokenRate } from '../../data/answers.ts';
import { useAnswer } from '../../data/use-answer.ts';
import { formatAbout } from '../../format/number.ts';
import { facetsQuestion } from './model-question.ts';

/** Tokens in and out a second over the range; nothing where no request says how many it has. */
export function TokenRates({ model }: { readonly model: string }) {
  const answered = useAnswer<FacetsAnswer>(facetsQuestion(model));
  const text = tokenRatesText(answered.value.answer?.tokens ?? []);
  if (text === undefined) return null;
  return (
    <ul class="sentences token-rates">
      <li>
        {text} <span class="hint">Lengths are stored by powers of two, not summed.</span>
      </li>
    </ul>
  );
}

const ways = { input_tokens: 'in', output_tokens: 'out' } as const;

/** "Tokens a second: ≈ 4,200 in (between 2,800 and 5,600), ≈ 1,100 out (between 740 and 1,480)." */
function tokenRatesText(tokens: readonly TokenRate[]): string | undefined {
  if (tokens.length === 0) return undefined;
  const parts = tokens.map(
    ({ facet, per_second, low_per_second, high_per_second }) =>
      `≈ ${formatAbout(per_second)} ${ways[facet]} (between ${formatAbout(low_per_second)} and ${formatAbout(high_per_second)})`,
  );
  return `Tokens a second: ${parts.join(', ')}.`;
}
