import type { ReadonlySignal } from '@preact/signals';
import type { CompositionAnswer } from '../../../../src/views/answers/composition.ts';
import type { TailsAnswer } from '../../../../src/views/answers/tails.ts';
import { type Answered, useAnswer } from '../../data/use-answer.ts';
import { modelQuestion } from './model-question.ts';

/** Stages of a model whose events have no total, the one with most requests first; none of another model. */
export function useStagesOnly(
  model: string,
  composition: ReadonlySignal<Answered<CompositionAnswer>>,
): readonly string[] {
  const isEmpty = composition.value.answer?.rows.length === 0;
  const stages = useAnswer<TailsAnswer>(
    isEmpty ? modelQuestion('tails', model, { by: 'stage', q: '0.5' }) : undefined,
  );
  if (!isEmpty) return [];
  return stages.value.answer?.rows.map(({ by }) => by) ?? [];
}
