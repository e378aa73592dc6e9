import { describe, expect, it } from 'vitest';
import { isStageName } from '../../src/base/dimensions.ts';
import { limits } from '../../src/base/limits.ts';
import { ModelStages, ownTime } from '../../src/formats/model-stages.ts';

describe('stages of models within models', () => {
  it('add up where a model runs several times, and leave out times that go back', () => {
    const stages = new ModelStages();
    stages.add(undefined, 'queue', 2);
    for (const ms of [200, 150, 20, -1, Number.NaN]) stages.add('encoder', 'forward', ms);
    expect(stages.ms).toEqual({ queue: 2, 'encoder.forward': 370 });
  });

  it('have names that an event may have, however the models are called', () => {
    const stages = new ModelStages();
    for (const model of ['7b', 'my model', `e${'x'.repeat(300)}`, 'größe']) {
      stages.add(model, 'postprocess', 1);
    }
    const names = Object.keys(stages.ms);
    expect(names.slice(0, 2)).toEqual(['model_7b.postprocess', 'my_model.postprocess']);
    expect(names.map((name) => isStageName(name))).toEqual([true, true, true, true]);
  });

  it('keep their sum beyond the number that an event may have', () => {
    const stages = new ModelStages();
    for (let n = 0; n < 100; n++) stages.add(`m${n}`, 'forward', 1);
    const values = Object.values(stages.ms);
    expect(values).toHaveLength(limits.stagesPerEvent);
    expect(stages.ms.other_models).toBe(37);
    expect(values.reduce((sum, ms) => sum + ms, 0)).toBe(100);
  });
});

it.each([
  [[], 10],
  [[[2, 5]], 7],
  [
    [
      [6, 20],
      [-5, 1],
    ],
    5,
  ],
  // Calls side by side, and one within another.
  [
    [
      [1, 4],
      [3, 6],
      [2, 3],
    ],
    5,
  ],
  [[[-1, 11]], 0],
  [[[12, 15]], 10],
] as [[number, number][], number][])(
  'of 0 to 10 with calls %j the own time is %d',
  (called, own) => {
    expect(ownTime([0, 10], called)).toBe(own);
  },
);
