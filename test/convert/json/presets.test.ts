import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { FileFormat } from '../../../src/convert/file-format.ts';
import {
  cloudevents,
  envoy,
  istio,
  litellm,
  nginx,
} from '../../../src/convert/json/preset-formats.ts';
import { timingEvent } from '../../../src/decode/timing-event.ts';
import type { EventDraft } from '../../../src/formats/format-reader.ts';
import { fixtureBytes } from '../conversion.ts';
import { convertBytes, readLines } from './collect.ts';

const contract = timingEvent({ maxDurationMs: 3_600_000, maxDimensionBytes: 256 });
const formats = { litellm, envoy, istio, nginx, cloudevents };

const byId = (a: EventDraft, b: EventDraft) => (String(a.id) < String(b.id) ? -1 : 1);

/** Every field equal; milliseconds, which are decimal numbers exact to 1e-6, too. */
async function expectExactly(format: FileFormat, input: string | Buffer, expected: EventDraft[]) {
  const { drafts, rejects, skipped } = await convertBytes(format, input);
  expect(rejects).toEqual([]);
  expect(skipped).toBe(0);
  expect(expected.length).toBeGreaterThan(0);
  expect([...drafts].sort(byId)).toEqual([...expected].sort(byId));
  for (const draft of drafts) expect(contract.safeParse(draft).success).toBe(true);
}

describe('presets', () => {
  it('are the files of config/presets', () => {
    const folder = new URL('../../../config/presets/', import.meta.url);
    const names = readdirSync(folder).map((file) => file.replace('.yaml', ''));
    expect(names.sort()).toEqual(Object.keys(formats).sort());
  });

  it.each([
    [litellm, 'litellm/standard-logging-payload.ndjson', 'litellm', 10],
    [istio, 'envoy/envoy-1.40-istio-default.json.log', 'envoy-istio', 49],
    [nginx, 'nginx/nginx-1.22-timing.json.log', 'nginx-timing-json', 49],
  ] as const)('$name: every event of a real file', async (format, file, name, count) => {
    const expected = readLines<EventDraft>(`expected/${name}.ndjson`);
    expect(expected.length).toBe(count);
    await expectExactly(format, fixtureBytes(file), expected);
  });

  it.each(['timings_ce_binary', 'timings_ce_structured'])('cloudevents: %s', async (name) => {
    const records = readLines<{ value: string }>(`kafka/${name}.jsonl`);
    const input = records.map(({ value }) => value).join('\n');
    await expectExactly(cloudevents, input, readLines<EventDraft>('expected/timings.ndjson'));
  });

  it('cloudevents: the time is the end, which gives the start where the data has none', async () => {
    const records = readLines<{ value: string }>('kafka/timings_ce_structured.jsonl');
    const input = records.map(({ value }) => value.replace('"start_time"', '"another"')).join('\n');
    await expectExactly(cloudevents, input, readLines<EventDraft>('expected/timings.ndjson'));
  });

  it('envoy: the same requests as the log of Istio, finer', async () => {
    const expected = readLines<EventDraft>('expected/envoy-istio.ndjson').sort(byId);
    const { drafts, rejects } = await convertBytes(
      envoy,
      fixtureBytes('envoy/envoy-1.40-durations.json.log'),
    );
    expect(rejects).toEqual([]);
    const fine = [...drafts].sort(byId);
    const coarse = (draft: EventDraft) => {
      const { id, ts, status, total_ms } = draft;
      return { id, ts, status, total_ms: Math.floor(total_ms as number) };
    };
    expect(fine.map(coarse)).toEqual(expected.map(coarse));
    const first = drafts[0] as EventDraft;
    expect(first).toEqual({
      ts: 1795624946881,
      model: 'ranker',
      id: 'e7de840c-5ce4-4351-b5c6-00449f739512',
      trace_id: '00000000000000000000000000000001',
      status: 'ok',
      total_ms: 15.357694,
      stages_ms: { downstream: 14.439 },
    });
  });

  it.each([
    [istio, 'envoy/envoy-1.40-istio-default.json.log', 'envoy-istio'],
    [nginx, 'nginx/nginx-1.22-timing.json.log', 'nginx-timing-json'],
  ] as const)('$name: lines as log shippers wrap them', async (format, file, name) => {
    const lines = fixtureBytes(file).toString('utf8').trim().split('\n');
    const wrapped = lines.map((line, at) =>
      JSON.stringify(at % 2 === 0 ? { '@timestamp': 'x', message: line } : { log: `${line}\n` }),
    );
    await expectExactly(format, wrapped.join('\n'), readLines(`expected/${name}.ndjson`));
  });

  it('recognise their own file and no other', () => {
    const files = {
      litellm: 'litellm/standard-logging-payload.ndjson',
      envoy: 'envoy/envoy-1.40-durations.json.log',
      istio: 'envoy/envoy-1.40-istio-default.json.log',
      nginx: 'nginx/nginx-1.22-timing.json.log',
    };
    for (const [name, file] of Object.entries(files)) {
      const head = fixtureBytes(file).toString('utf8').slice(0, 65_536);
      const found = Object.values(formats).filter((each) => each.recognise(head, file));
      expect(found.map((format) => format.name)).toEqual([name]);
    }
    const [record] = readLines<{ value: string }>('kafka/timings_ce_structured.jsonl');
    expect(cloudevents.recognise(record?.value ?? '', 'a')).toContain('specversion');
    expect(litellm.recognise('not JSON', 'a')).toBeUndefined();
    expect(litellm.recognise('null', 'a')).toBeUndefined();
  });
});
