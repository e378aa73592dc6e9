import { describe, it } from 'vitest';
import { compareEvents } from './compare-events.ts';
import { evaluationRuns } from './evaluation-runs.ts';
import { isWhole } from './expect-golden.ts';

describe('the events of seeds of the evaluation are as recorded', () => {
  const runs = evaluationRuns.filter(({ by }) => by === 'slow' || (by === 'golden' && isWhole));
  it.each(runs)('$name', compareEvents);
});
