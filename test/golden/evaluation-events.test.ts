import { describe, it } from 'vitest';
import { compareEvents } from './compare-events.ts';
import { evaluationRuns } from './evaluation-runs.ts';

describe('the events of seeds of the evaluation are as recorded', () => {
  it.each(evaluationRuns.filter(({ by }) => by === 'test'))('$name', compareEvents);
});
