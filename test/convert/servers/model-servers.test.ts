// Covers src/convert/servers/http-status.ts, src/convert/servers/onnxruntime.ts,
// src/convert/servers/ray-serve.ts, src/convert/servers/torchserve.ts and
// src/convert/servers/triton.ts.

import { expect, it } from 'vitest';
import { onnxruntime } from '../../../src/convert/servers/onnxruntime.ts';
import { rayServe } from '../../../src/convert/servers/ray-serve.ts';
import { torchserve } from '../../../src/convert/servers/torchserve.ts';
import { triton } from '../../../src/convert/servers/triton.ts';
import type { EventDraft } from '../../../src/formats/format-reader.ts';
import {
  convert,
  expectedEvents,
  expectSameEvents,
  fixture,
  fixtureText,
  textFile,
} from '../conversion.ts';

const none = { rejects: [], skipped: 0 };

it('converts logs of Ray Serve, joined by request id over three files', async () => {
  const folder = 'ray-serve/json';
  const { events, rejects, skipped } = await convert(
    rayServe,
    [
      `${folder}/proxy.log`,
      `${folder}/replica_rank_Features_pe6os2ke.log`,
      `${folder}/replica_rank_Ranker_5z8dh6wq.log`,
    ].map(fixture),
  );
  expectSameEvents(events, expectedEvents('ray-serve-json'));
  expect({ rejects, skipped }).toEqual(none);
});

it('converts the same logs as text, which are of another run', async () => {
  const folder = 'ray-serve/text';
  const { events, rejects, skipped } = await convert(
    rayServe,
    [
      `${folder}/replica_rank_Ranker_ws2skyj1.log`,
      `${folder}/proxy.log`,
      `${folder}/replica_rank_Features_2r1t0e4v.log`,
    ].map(fixture),
  );
  expect({ rejects, skipped }).toEqual(none);
  expect(events).toHaveLength(30);
  expect(events.filter(({ status }) => status === 'error')).toHaveLength(2);
  expect(events[0]).toMatchObject({ model: 'rank', id: 'req-001', total_ms: 389.4 });
  expect(events[0]?.ts).toBe(Math.floor(Date.parse('2026-11-25T17:11:19.533Z') - 389.4));
  const names = events.map(({ stages_ms }) =>
    Object.keys(stages_ms ?? {})
      .sort()
      .join(),
  );
  expect(new Set(names)).toEqual(new Set(['rank_Features,rank_Ranker', 'rank_Ranker']));
});

const older = [
  [
    'INFO 2023-05-24 01:19:04,860 http_proxy 192.0.2.1 CUpzh / default http_proxy.py:1254 - POST 200 9.5ms',
    'INFO 2023-05-24 01:19:04,854 default_Model default_Model#EjYmnQ CUpzh / default model.py:42 - took INFERENCE 3.3ms',
    'INFO 2023-05-24 01:19:04,854 default_Model default_Model#EjYmnQ CUpzh / default replica.py:542 - __CALL__ OK 5.8ms',
  ],
  [
    'INFO 2023-05-24 01:19:04,860 proxy 192.0.2.1 CUpzh /default proxy.py:1165 - POST 200 9.5ms',
    'INFO 2023-05-24 01:19:04,854 default_Model 8ey9y40a CUpzh /default replica.py:373 - __CALL__ OK 5.8ms',
  ],
  [
    '{"levelname": "INFO", "asctime": "2023-05-24 01:19:04,860", "component_name": "proxy", "request_id": "CUpzh", "route": "/default", "message": "proxy.py:1165 - POST 200 9.5ms"}',
    '{"levelname": "INFO", "asctime": "2023-05-24 01:19:04,854", "deployment": "default_Model", "request_id": "CUpzh", "message": "replica.py:373 - __CALL__ OK 5.8ms"}',
  ],
  [
    'INFO 2023-05-24 01:19:04,860 proxy 192.0.2.1 CUpzh -- 192.0.2.7:4711 POST /default 200 9.5ms',
    'INFO 2023-05-24 01:19:04,854 default_Model 8ey9y40a CUpzh -- [::1]:4711 CALL predict OK 5.8ms',
  ],
];

it.each(older)('reads lines of other releases of Ray Serve: %s', async (...lines) => {
  for (const line of lines) expect(rayServe.recognise(line, 'a.log')).toBeDefined();
  const { events, rejects, skipped } = await convert(
    rayServe,
    lines.map((line) => textFile(line)),
  );
  expect({ rejects, skipped }).toEqual(none);
  expect(events).toEqual([
    {
      ...{ ts: Date.parse('2023-05-24T01:19:04.850Z'), model: 'default', id: 'CUpzh' },
      ...{ status: 'ok', total_ms: 9.5, stages_ms: { default_Model: 5.8 } },
    },
  ]);
});

const batched = 'torchserve/0.7.1-batched';

it('converts the three logs of TorchServe, joined by order', async () => {
  const { events, rejects, skipped } = await convert(
    torchserve,
    [
      `${batched}/access_log.log`,
      `${batched}/model_metrics.log`,
      `${batched}/ts_metrics-first-100-requests.log`,
    ].map(fixture),
  );
  const expected = expectedEvents('torchserve-0.7.1-first-100');
  expect(expected).toHaveLength(100);
  expectSameEvents(events.slice(0, 100), expected);
  // Of the queue latencies only the first hundred are in the file.
  const text = fixtureText('expected/torchserve-0.7.1-all-1100.ndjson.gz');
  const all = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as EventDraft);
  expect(all).toHaveLength(1_100);
  expectSameEvents(events, all);
  expect({ rejects, skipped }).toEqual(none);
});

it('converts the first form of TorchServe, in a zone that only its epoch stamps tell', async () => {
  const folder = 'torchserve/2019-first-commit';
  const { events } = await convert(
    torchserve,
    [`${folder}/access_log.log`, `${folder}/model_metrics.log`, `${folder}/ts_metrics.log`].map(
      fixture,
    ),
  );
  // The expectation leaves out what this form has beside: the host, and batches of one.
  const found = events.map(({ host, batch_size, ...event }) => event);
  expectSameEvents(found, expectedEvents('torchserve-2019'));
});

it('gives up metrics of a model that has no requests in the access log, and no other', async () => {
  const metric = (model: string, id: number) =>
    `2023-05-08T18:29:31,135 - HandlerTime.ms:${id}|#ModelName:${model},Level:Model|#hostname:h,requestID:${model}-${id},timestamp:1683570571`;
  const grpc = Array.from({ length: 100_001 }, (_, i) => metric('grpc', i));
  const metrics = [metric('a', 1), ...grpc, metric('a', 2)].join('\n');
  const access = ['a', 'a', 'grpc'].map(
    (model) => `2023-05-08T18:29:31,136 - /h:1 "POST /predictions/${model} HTTP/1.0" 200 5`,
  );
  const { events } = await convert(torchserve, [
    textFile(access.join('\n'), 1_000),
    textFile(metrics, 65_536),
  ]);
  expect(events.map(({ id }) => id)).toEqual(['a-1', 'a-2', undefined]);
});

it('rejects metrics of TorchServe without an access log', async () => {
  const { events, rejects } = await convert(
    torchserve,
    [`${batched}/model_metrics.log`].map(fixture),
  );
  expect(events).toEqual([]);
  expect(rejects).toEqual([
    {
      reason: 'invalid_line',
      detail: 'The files must hold an access log of TorchServe: none does',
      bytes: 'model_metrics.log',
    },
  ]);
});

it('converts a trace of Triton; requests without an end are rejected', async () => {
  // The anchor that was measured beside the run, to the microsecond.
  const startMs = Number(1_963_058_753_979n + 1_795_623_384_041_403_448n) / 1e6;
  const { events, rejects } = await convert(triton, ['triton/trace-2.51.json'].map(fixture), {
    startMs,
  });
  expectSameEvents(events, expectedEvents('triton-trace-2.51'));
  expect(rejects.map(({ reason }) => reason)).toEqual(Array(28).fill('no_end'));
  expect(rejects[0]?.detail).toMatch(/^Request \d+ must have an end: it has none, as Triton /);
});

it('refuses a trace of Triton without a start', async () => {
  await expect(convert(triton, textFile('[]'))).rejects.toThrow('--start must say when');
});

it.each([
  ['{"id":1,"timestamps":[{"name":"HTTP_RECV_START","ns":5}]}', 'no_end'],
  [
    '{"id":1,"timestamps":[{"name":"HTTP_RECV_START","ns":5},{"name":"HTTP_SEND_END","ns":4}]}',
    'ends_before_start',
  ],
  ['{"id":"one"}', 'invalid_json'],
  ['[{"id":1', 'invalid_json'],
  ['[', 'invalid_json'],
])('rejects %s of Triton', async (text, reason) => {
  const startMs = 1_790_000_000_000;
  const { events, rejects } = await convert(triton, textFile(text), { startMs });
  expect(events).toEqual([]);
  expect(rejects.map((each) => each.reason)).toEqual([reason]);
});

it('converts a profile of ONNX Runtime', async () => {
  const path = 'onnxruntime/ranker_2026-11-25_16-45-03_407.json';
  const startMs = 1_795_625_103_407.669;
  const { events, rejects, skipped } = await convert(onnxruntime, [path].map(fixture), { startMs });
  expectSameEvents(events, expectedEvents('onnxruntime'));
  expect({ rejects, skipped }).toEqual(none);
  // The name has the start to the millisecond.
  const named = (await convert(onnxruntime, fixture(path))).events;
  named.forEach(({ ts }, i) => {
    expect(Math.abs(Number(ts) - Number(events[i]?.ts))).toBeLessThanOrEqual(1);
  });
});

it('converts requests to TorchServe by the protocols of KServe, and no others', async () => {
  const requests = [
    ...['POST /predictions/a/1.0?x=1', 'POST /v1/models/b:predict', 'POST /v2/models/c/infer'],
    ...['POST /v2/models/d/versions/1/infer', 'GET /v1/models/e', 'GET /v2/models/f/ready'],
    ...['GET /ping', 'POST /models?url=g'],
  ];
  const text = requests
    .map((each) => `2023-08-01T20:22:43,541 - /192.0.2.1:5 "${each} HTTP/1.1" 200 15\n`)
    .join('');
  const { events, rejects } = await convert(torchserve, textFile(text));
  expect(rejects).toEqual([]);
  expect(events.map(({ model }) => model)).toEqual(['a', 'b', 'c', 'd']);
});

it('places requests of several trace files of Triton by one clock, and passes over tensors', async () => {
  const file = (ns: number) => {
    const timestamps = [
      { name: 'HTTP_RECV_START', ns },
      { name: 'HTTP_SEND_END', ns: ns + 2e6 },
    ];
    const data = `{"id":1,"activity":"TENSOR_QUEUE_INPUT","tensor":{"data":"${'1,'.repeat(2 ** 20)}"}}`;
    return textFile(`[${JSON.stringify({ id: 1, timestamps })}, ${data}]`, 1_000_003);
  };
  const { events, rejects, skipped } = await convert(triton, [file(5e9), file(6e9)], {
    ...{ model: 'm', startMs: 1_700_000_000_000 },
  });
  expect({ rejects, skipped }).toEqual(none);
  expect(events.map(({ ts, total_ms }) => [ts, total_ms])).toEqual([
    [1_700_000_000_000, 2],
    [1_700_000_001_000, 2],
  ]);
});

it('keeps requests apart that TorchServe logs one after another under one id', async () => {
  const metrics = [10, 20, 30].map((ms, i) =>
    ['PreprocessTime.ms:1', `InferenceTime.ms:${ms}`, 'PostprocessTime.ms:2']
      .map(
        (metric) =>
          `2026-01-01T00:00:0${i},000 - ${metric}|#ModelName:m,Level:Model|#hostname:h,requestID:same,timestamp:176722560${i}`,
      )
      .join('\n'),
  );
  const access = [40, 50, 60].map(
    (ms, i) => `2026-01-01T00:00:0${i},100 - /127.0.0.1:1 "POST /predictions/m HTTP/1.1" 200 ${ms}`,
  );
  const { events } = await convert(torchserve, [
    textFile(access.join('\n')),
    textFile(metrics.join('\n')),
  ]);
  expect(events.map(({ total_ms, stages_ms }) => [total_ms, stages_ms])).toEqual([
    [40, { preprocess: 1, forward: 10, postprocess: 2 }],
    [50, { preprocess: 1, forward: 20, postprocess: 2 }],
    [60, { preprocess: 1, forward: 30, postprocess: 2 }],
  ]);
});
