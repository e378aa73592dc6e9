import { describe, expect, it } from 'vitest';
import { triton } from '../../../src/convert/servers/triton.ts';
import { convert, textFile } from '../conversion.ts';

const startMs = 1_790_000_000_000;
/** A machine that has been up for weeks. */
const base = 900_000_000_000_000;

/** Records of a model, with times in milliseconds. */
function model(
  id: number,
  name: string,
  parent: number | undefined,
  times: Readonly<Record<string, number>>,
) {
  const timestamps = Object.entries(times).map(([at, ms]) => ({ name: at, ns: base + ms * 1e6 }));
  return [
    {
      ...{ id, model_name: name, model_version: 1 },
      ...(parent === undefined ? {} : { parent_id: parent }),
    },
    { id, timestamps },
  ];
}

const front = (recv: number, endMs: number) => ({
  HTTP_RECV_START: recv,
  HTTP_RECV_END: recv + 1,
  REQUEST_START: recv + 2,
  HTTP_SEND_START: endMs - 2,
  HTTP_SEND_END: endMs,
});
const run = (at: number, queue: number, forward: number) => ({
  QUEUE_START: at,
  COMPUTE_START: at + queue,
  COMPUTE_INPUT_END: at + queue + 1,
  COMPUTE_OUTPUT_START: at + queue + 1 + forward,
  COMPUTE_END: at + queue + 2 + forward,
});
const requestsOf = async (records: readonly object[]) => {
  const text = JSON.stringify(records);
  const { events, rejects } = await convert(triton, textFile(text, 4_096), { startMs });
  expect(rejects).toEqual([]);
  return events;
};

describe('a trace of Triton', () => {
  it('has all runs of a model that an ensemble runs several times', async () => {
    const events = await requestsOf([
      ...model(1, 'pipeline', undefined, { ...front(0, 395), QUEUE_START: 2 }),
      ...model(10, 'encoder', 1, run(2, 5, 200)),
      ...model(11, 'encoder', 1, run(209, 5, 150)),
      ...model(12, 'encoder', 1, run(366, 5, 20)),
    ]);
    expect(events).toMatchObject([
      {
        model: 'pipeline',
        total_ms: 395,
        stages_ms: {
          ...{ ingress: 1, parse: 1, egress: 2 },
          'encoder.queue': 15,
          'encoder.preprocess': 3,
          'encoder.forward': 370,
          'encoder.postprocess': 3,
        },
      },
    ]);
  });

  it('has the models that a model calls at any depth, and their time once', async () => {
    const [event] = await requestsOf([
      ...model(1, 'router', undefined, { ...front(0, 406), ...run(2, 1, 400) }),
      ...model(2, 'ens', 1, { REQUEST_START: 10, QUEUE_START: 10, REQUEST_END: 390 }),
      ...model(3, 'encoder', 2, run(11, 2, 300)),
      ...model(4, 'head', 2, run(320, 2, 60)),
      ...model(5, 'tokenizer', 4, run(330, 0, 4)),
    ]);
    expect(event).toMatchObject({ model: 'router', total_ms: 406 });
    expect(event?.stages_ms).toEqual({
      ...{ ingress: 1, parse: 1, egress: 2, queue: 1, preprocess: 1, postprocess: 1 },
      // 400 ms, of which the ensemble took 380.
      forward: 20,
      ...{ 'encoder.queue': 2, 'encoder.preprocess': 1, 'encoder.forward': 300 },
      ...{ 'encoder.postprocess': 1, 'head.queue': 2, 'head.preprocess': 1 },
      ...{ 'head.forward': 54, 'head.postprocess': 1, 'tokenizer.queue': 0 },
      ...{ 'tokenizer.preprocess': 1, 'tokenizer.forward': 4, 'tokenizer.postprocess': 1 },
    });
  });

  it('has a request more where ids count from 1 again', async () => {
    const request = (at: number, forward: number) => [
      ...model(1, 'ens', undefined, { ...front(at, at + forward + 20), QUEUE_START: at + 2 }),
      ...model(2, 'encoder', 1, run(at + 2, 1, forward)),
    ];
    const events = await requestsOf([...request(0, 40), ...request(5_000, 70)]);
    expect(events.map(({ ts, total_ms, stages_ms }) => [ts, total_ms, stages_ms])).toMatchObject([
      [startMs, 60, { 'encoder.forward': 40 }],
      [startMs + 5_000, 90, { 'encoder.forward': 70 }],
    ]);
  });
});
