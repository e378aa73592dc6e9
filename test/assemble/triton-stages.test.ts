import { expect, test } from 'vitest';
import { tritonRequestOf } from '../../src/assemble/event/triton-stages.ts';
import type { Span } from '../../src/formats/span.ts';

/** A span of Triton's, with times in milliseconds since the request began. */
function span(
  [spanId, parentSpanId]: readonly [string, string],
  name: string,
  [fromMs, toMs]: readonly [number, number],
  events: Readonly<Record<string, number>> = {},
  model?: string,
): Span {
  return {
    ...{ traceId: 'aa', spanId, parentSpanId, name, kind: 1 },
    ...{ startMs: 1_790_000_000_000 + fromMs, startNs: 0, durationMs: toMs - fromMs },
    ...{ endIsSet: true, statusCode: 0, resource: new Map(), traceState: '' },
    attributes: new Map(model === undefined ? [] : [['triton.model_name', model]]),
    events: Object.entries(events).map(([at, ms]) => ({
      ...{ name: at, sinceStartMs: ms - fromMs, attributes: new Map() },
    })),
  };
}

/** The span of a model's run and that of its computation. */
function run(id: string, parent: string, model: string, at: number, forward: number): Span[] {
  const times = {
    COMPUTE_START: at + 2,
    COMPUTE_INPUT_END: at + 3,
    COMPUTE_OUTPUT_START: at + 3 + forward,
    COMPUTE_END: at + 4 + forward,
  };
  const ends = at + 4 + forward;
  return [
    span([id, parent], model, [at, ends], { QUEUE_START: at }, model),
    span([`${id}c`, id], 'compute', [at + 2, ends], times),
  ];
}

const root = span(['1', ''], 'InferRequest', [0, 500]);

test('of a model that an ensemble runs several times are the sum', () => {
  const ensemble = span(['2', '1'], 'pipeline', [1, 480], {}, 'pipeline');
  const runs = [200, 150, 20].flatMap((ms, i) => run(`3${i}`, '2', 'encoder', 10 + i * 210, ms));
  const { model, stages } = tritonRequestOf(root, [root, ensemble, ...runs]);
  expect(model).toBe(ensemble);
  expect(stages).toEqual({
    'encoder.queue': 6,
    'encoder.preprocess': 3,
    'encoder.forward': 370,
    'encoder.postprocess': 3,
  });
});

test('are of models at any depth, and a caller has what is its own', () => {
  const router = run('2', '1', 'router', 1, 400);
  // One call below the computation, as a model makes it, and one below the model.
  const inner = span(['3', '2c'], 'ens', [10, 390], {}, 'ens');
  const spans = [root, ...router, inner, ...run('4', '3', 'encoder', 11, 300)];
  expect(tritonRequestOf(root, spans).stages).toEqual({
    ...{ queue: 2, preprocess: 1, forward: 20, postprocess: 1 },
    ...{ 'encoder.queue': 2, 'encoder.preprocess': 1 },
    ...{ 'encoder.forward': 300, 'encoder.postprocess': 1 },
  });
});

test('are read once where ids make a circle', () => {
  const model = run('2', '1', 'm', 1, 40);
  const circle = span(['2', '2'], 'm', [1, 45], {}, 'm');
  expect(tritonRequestOf(root, [root, ...model, circle]).stages).toMatchObject({ queue: 2 });
});
