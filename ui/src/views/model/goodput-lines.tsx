import { goodputText } from '../../../../src/contract/objectives/objective-text.ts';
import type { GoodputAnswer, GoodputRow } from '../../data/answers.ts';
import { useAnswer } from '../../data/use-answer.ts';
import { Time } from '../../parts/time.tsx';
import { modelQuestion } from './model-question.ts';

/** Goodput of a model over the range, a line a joint objective; nothing where it has none. */
export function GoodputLines({ model }: { readonly model: string }) {
  const answered = useAnswer<GoodputAnswer>(modelQuestion('goodput', model));
  const rows = answered.value.answer?.rows ?? [];
  if (rows.length === 0) return null;
  return (
    <ul class="sentences goodput">
      {rows.map((row) => (
        <li key={row.name}>
          {textOf(row)}
          {row.counted_from !== null && (
            <>
              , counted since <Time at={row.counted_from} />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

function textOf({ thresholds, objective, ...counts }: GoodputRow): string {
  const of = Object.fromEntries(thresholds.map(({ stage, ms }) => [stage, ms]));
  return goodputText(counts, { thresholds: of, objective });
}
