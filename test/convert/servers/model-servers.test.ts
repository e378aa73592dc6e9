import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { onnxruntime } from '../../../src/convert/servers/onnxruntime.ts';
import { rayServe } from '../../../src/convert/servers/ray-serve.ts';
import { torchserve } from '../../../src/convert/servers/torchserve.ts';
import { triton } from '../../../src/convert/servers/triton.ts';
import type { EventDraft } from '../../../src/formats/format-reader.ts';
import { convertFixtures, convertText, expectedEvents, rounded } from '../converted.ts';

/** The expectations are in the order of starts, the logs in that of ends. */
const byId = (events: readonly EventDraft[]) =>
  events.map(rounded).sort((a, b) => String(a.id).localeCompare(String(b.id)));
const none = { rejected: [], skipped: 0 };

it('converts logs of Ray Serve, joined by request id over three files', async () => {
  const folder = 'ray-serve/json';
  const { events, ...rest } = await convertFixtures(rayServe, [
    `${folder}/proxy.log`,
    `${folder}/replica_rank_Features_pe6os2ke.log`,
    `${folder}/replica_rank_Ranker_5z8dh6wq.log`,
  ]);
  expect(byId(events)).toEqual(byId(expectedEvents('ray-serve-json.ndjson')));
  expect(rest).toEqual(none);
});

it('converts the same logs as text, which are of another run', async () => {
  const folder = 'ray-serve/text';
  const { events, ...rest } = await convertFixtures(rayServe, [
    `${folder}/replica_rank_Ranker_ws2skyj1.log`,
    `${folder}/proxy.log`,
    `${folder}/replica_rank_Features_2r1t0e4v.log`,
  ]);
  expect(rest).toEqual(none);
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

const batched = 'torchserve/0.7.1-batched';

it('converts the three logs of TorchServe, joined by order', async () => {
  const { events, ...rest } = await convertFixtures(torchserve, [
    `${batched}/access_log.log`,
    `${batched}/model_metrics.log`,
    `${batched}/ts_metrics-first-100-requests.log`,
  ]);
  const expected = expectedEvents('torchserve-0.7.1-first-100.ndjson');
  expect(expected).toHaveLength(100);
  expect(byId(events.slice(0, 100))).toEqual(byId(expected));
  const path = new URL(
    '../../fixtures/formats/expected/torchserve-0.7.1-all-1100.ndjson.gz',
    import.meta.url,
  );
  // Of the queue latencies only the first hundred are in the file.
  const all = gunzipSync(readFileSync(path)).toString('utf8').trim().split('\n');
  expect(all).toHaveLength(1_100);
  expect(byId(events)).toEqual(byId(all.map((line) => JSON.parse(line))));
  expect(rest).toEqual(none);
});

it('converts the first form of TorchServe, in a zone that only its epoch stamps tell', async () => {
  const folder = 'torchserve/2019-first-commit';
  const { events } = await convertFixtures(torchserve, [
    `${folder}/access_log.log`,
    `${folder}/model_metrics.log`,
    `${folder}/ts_metrics.log`,
  ]);
  // The expectation leaves out what this form has beside: the host, and batches of one.
  const found = events.map(({ host, batch_size, ...event }) => rounded(event));
  expect(found).toEqual(expectedEvents('torchserve-2019.ndjson'));
});

it('rejects metrics of TorchServe without an access log', async () => {
  const { events, rejected } = await convertFixtures(torchserve, [`${batched}/model_metrics.log`]);
  expect(events).toEqual([]);
  expect(rejected).toEqual([
    'invalid_line: The files must hold an access log of TorchServe: none does',
  ]);
});

it('converts a trace of Triton; requests without an end are rejected', async () => {
  // The anchor that was measured beside the run, to the microsecond.
  const startMs = Number(1_963_058_753_979n + 1_795_623_384_041_403_448n) / 1e6;
  const { events, rejected } = await convertFixtures(triton, ['triton/trace-2.51.json'], {
    startMs,
  });
  expect(byId(events)).toEqual(byId(expectedEvents('triton-trace-2.51.ndjson')));
  expect(rejected).toHaveLength(28);
  expect(rejected[0]).toMatch(/^no_end: Request \d+ must have an end: it has none, as Triton /);
});

it('refuses a trace of Triton without a start', async () => {
  await expect(convertText(triton, '[]')).rejects.toThrow('must have --start');
});

it.each([
  ['{"id":1,"timestamps":[{"name":"HTTP_RECV_START","ns":5}]}', 'no_end'],
  [
    '{"id":1,"timestamps":[{"name":"HTTP_RECV_START","ns":5},{"name":"HTTP_SEND_END","ns":4}]}',
    'ends_before_start',
  ],
  ['{"id":"one"}', 'invalid_json'],
  ['[{"id":1', 'invalid_json'],
])('rejects %s of Triton', async (text, reason) => {
  const { events, rejected } = await convertText(triton, text, { startMs: 1_790_000_000_000 });
  expect(events).toEqual([]);
  expect(rejected.map((each) => each.split(':')[0])).toEqual([reason]);
});

it('converts a profile of ONNX Runtime', async () => {
  const path = 'onnxruntime/ranker_2026-11-25_16-45-03_407.json';
  const startMs = 1_795_625_103_407.669;
  const { events, ...rest } = await convertFixtures(onnxruntime, [path], { startMs });
  expect(events.map(rounded)).toEqual(expectedEvents('onnxruntime.ndjson'));
  expect(rest).toEqual(none);
  // The name has the start to the millisecond.
  const named = (await convertFixtures(onnxruntime, [path])).events;
  named.forEach(({ ts }, i) => {
    expect(Math.abs(Number(ts) - Number(events[i]?.ts))).toBeLessThanOrEqual(1);
  });
});
