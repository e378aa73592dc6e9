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
import { fixtureBytes, fixtureText } from '../conversion.ts';
import { convertBytes, readLines } from './collect.ts';

const contract = timingEvent({ maxDurationMs: 3_600_000, maxDimensionBytes: 256 });
/** Istio's default `accessLogFormat`, with the names that its JSON gives to the operators. */
const istioText =
  '[%start_time%] "%method% %path% %protocol%" %response_code% %response_flags% %response_code_details% %connection_termination_details% "%upstream_transport_failure_reason%" %bytes_received% %bytes_sent% %duration% %upstream_service_time% "%x_forwarded_for%" "%user_agent%" "%request_id%" "%authority%" "%upstream_host%" %upstream_cluster% %upstream_local_address% %downstream_local_address% %downstream_remote_address% %requested_server_name% %route_name%';

const formats = { litellm, envoy, istio, nginx, cloudevents };

const nameOf = ({ id, ts }: EventDraft) => `${id} ${ts}`;
const byId = (a: EventDraft, b: EventDraft) => nameOf(a).localeCompare(nameOf(b));

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
    [nginx, 'nginx/ingress-nginx-upstreaminfo.log', 'ingress-nginx', 15],
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

  it("istio: Envoy's default text has the same requests, but neither route nor cluster", async () => {
    const file = 'envoy/envoy-1.40-default-text.log';
    const paths = new Map(
      readLines<{ request_id: string; path: string }>(
        'envoy/envoy-1.40-istio-default.json.log',
      ).map(({ request_id, path }) => [request_id, path]),
    );
    const expected = readLines<EventDraft>('expected/envoy-istio.ndjson').map((event) => {
      const { request_type, ...others } = event;
      const [, first, second] = (paths.get(String(event.id)) as string).split('/');
      return { ...others, model: first === 'predict' ? second : first };
    });
    expect(expected.length).toBe(49);
    await expectExactly(istio, fixtureBytes(file), expected);
  });

  it("istio: Istio's default text has the same requests as its JSON", async () => {
    const text = readLines<Record<string, string | number | null>>(
      'envoy/envoy-1.40-istio-default.json.log',
    )
      .map((fields) => istioText.replaceAll(/%(\w+)%/g, (_, name) => String(fields[name] ?? '-')))
      .join('\n');
    await expectExactly(istio, text, readLines('expected/envoy-istio.ndjson'));
    expect(istio.recognise(text, 'access.log')).toMatch(/^lines of the default format of Envoy/);
  });

  it("istio: Istio's default text of a request that failed on its way is read as its JSON would be", async () => {
    const line =
      '[2026-11-25T16:42:26.881Z] "GET /status/503 HTTP/1.1" 503 UF,URX upstream_reset_before_response_started{connection_failure} - "TLS_error: a \'b\' c" 0 91 120 - "10.0.0.1" "curl/8" "id-1" "ranker:8000" "10.1.0.5:8000" outbound|8000||ranker.ml.svc.cluster.local - 10.2.0.9:8000 10.1.0.3:51234 - default';
    const { drafts, rejects } = await convertBytes(istio, line);
    expect(rejects).toEqual([]);
    expect(drafts).toEqual([
      {
        ts: Date.parse('2026-11-25T16:42:26.881Z'),
        total_ms: 120,
        stages_ms: {},
        model: 'outbound|8000||ranker.ml.svc.cluster.local',
        request_type: 'default',
        id: 'id-1',
        request_bytes: 0,
        response_bytes: 91,
        status: 'error',
      },
    ]);
  });

  it('nginx: lists of retries count with quotes and without', async () => {
    const line = fixtureText('nginx/nginx-1.22-combined-timed.log').split('\n', 1)[0] as string;
    const stageOf = async (added: string) => {
      const text = line.replace(/ rt=.*/, added);
      const { drafts, rejects } = await convertBytes(nginx, text);
      return rejects[0] ?? [drafts[0]?.total_ms, drafts[0]?.stages_ms?.downstream, drafts[0]?.id];
    };
    expect(await stageOf(' rt=0.200 urt=0.100, 0.050')).toEqual([200, 150, undefined]);
    expect(await stageOf(' urt=0.100, - : 0.050 rt=0.200 request_id=7')).toEqual([200, 150, '7']);
    expect(await stageOf(' ua=a:1, b:2 rt=0.200 urt=0.1')).toEqual([200, 100, undefined]);
    // A comma before the next pair belongs to no list.
    expect(await stageOf(' request_id=7, rt=0.200')).toEqual([200, undefined, '7,']);
    expect(await stageOf(' rt=0.200 urt=0.100, 0.050 more')).toMatch(/^invalid_line: /);
  });

  it('nginx: a long line that looks like many lists is refused at once', async () => {
    const line = fixtureText('nginx/nginx-1.22-combined-timed.log').split('\n', 1)[0] as string;
    const lines = [', b=1', ', b', ' : b', ', : '].map((part) =>
      line.replace(/ rt=.*/, ` a=1${part.repeat(5_000)} "`),
    );
    const { rejects } = await convertBytes(nginx, lines.join('\n'));
    expect(rejects.length).toBe(4);
  });

  it('nginx: its timed text has the same requests, without ids and with whole seconds', async () => {
    const json = readLines<{ msec: number; request_time: number }>(
      'nginx/nginx-1.22-timing.json.log',
    );
    const { drafts: precise } = await convertBytes(
      nginx,
      fixtureBytes('nginx/nginx-1.22-timing.json.log'),
    );
    const expected = precise.map(
      ({ id, trace_id, request_bytes, response_bytes, ...event }, at) => {
        const endMs = Math.floor(json[at]?.msec as number) * 1_000;
        return { ...event, ts: endMs - (event.total_ms as number) };
      },
    );
    const text = fixtureBytes('nginx/nginx-1.22-combined-timed.log');
    const { drafts, rejects } = await convertBytes(nginx, text);
    expect(rejects).toEqual([]);
    expect(drafts.length).toBe(49);
    expect(drafts).toEqual(expected);
  });

  it('nginx: fields of the JSON may follow a line of text, and count', async () => {
    const line =
      '2001:db8::1 - a user [29/Feb/2024:23:59:59 -0330] "GET /predict/m?a=[b] HTTP/2.0" 499 0 "-" "x\\x22y" rt=0.250 urt="-, 0.024 : 0.100"';
    const msec = 'msec=1709263799.123 request_id="7 8"';
    const { drafts, rejects } = await convertBytes(nginx, `${line}\n${line} ${msec}\n`);
    expect(rejects).toEqual([]);
    const event = {
      model: 'm',
      status: 'cancelled',
      total_ms: 250,
      stages_ms: { downstream: 124 },
    };
    const endMs = Date.parse('2024-02-29T23:59:59-03:30');
    expect(drafts).toEqual([
      { ...event, ts: endMs - 250 },
      { ...event, ts: 1709263799123 - 250, id: '7 8' },
    ]);
  });

  it('nginx: quotes in texts count as each escape writes them', async () => {
    const [line] = fixtureText('nginx/nginx-1.22-combined-timed.log').split('\n') as [string];
    const agents = ['a\\"b', 'a\\x22b', '\\\\'].map((agent) => line.replace('client/1', agent));
    const { drafts, rejects } = await convertBytes(nginx, agents.join('\n'));
    expect(rejects).toEqual([]);
    expect(drafts.map(({ total_ms }) => total_ms)).toEqual([167, 167, 167]);
  });

  it('nginx: the format main, with who asked first', async () => {
    const [line] = fixtureText('nginx/nginx-1.22-combined-timed.log').split('\n') as [string];
    const main = line.replace(' rt=', ' "192.0.2.1, 192.0.2.2" rt=');
    const { drafts, rejects } = await convertBytes(nginx, `${line}\n${main}`);
    expect(rejects).toEqual([]);
    expect(drafts[1]).toEqual(drafts[0]);
  });

  it('nginx: JSON with the bytes that escape=default writes', async () => {
    const line = String.raw`{"msec":1795626112.123,"uri":"/predict/\xD0\x96\x22?q=\x5C\xFF","status":200,"request_time":0.1}`;
    expect(nginx.recognise(line, 'a')).toBe('keys msec, request_time, status');
    const event = {
      ts: 1_795_626_112_023,
      model: 'Ж"',
      status: 'ok',
      total_ms: 100,
      stages_ms: {},
    };
    const wrapped = JSON.stringify({ message: `${line}\n` });
    const { drafts, rejects } = await convertBytes(nginx, `${line}\n${wrapped}`);
    expect([drafts, rejects]).toEqual([[event, event], []]);
    const other = await convertBytes(istio, line);
    expect(other.rejects).toEqual([expect.stringMatching(/^invalid_json: /)]);
  });

  it('nginx: connections without a request are skipped, in text and in JSON', async () => {
    const [line] = fixtureText('nginx/nginx-1.22-combined-timed.log').split('\n') as [string];
    const none = [String.raw`\x16\x03\x01\x00 \xEE\x01 x`, '-', '', 'PRI * HTTP/2.0'].map(
      (request) => line.replace(/"[A-Z]+ [^"]*"/, () => `"${request}"`),
    );
    const json = (uri: string) =>
      `{"msec":1795626112.123,"uri":"${uri}","status":400,"request_time":0.1}`;
    const all = [...none, line, json(''), json('-'), json('/predict/m')];
    const { drafts, rejects, skipped } = await convertBytes(nginx, all.join('\n'));
    expect({ rejects, skipped }).toEqual({ rejects: [], skipped: 6 });
    expect(drafts.map(({ total_ms }) => total_ms)).toEqual([167, 100]);
  });

  it('nginx: JSON in which variables have no quotes', async () => {
    const stageOf = async (upstream: string) => {
      const line = `{"msec":1795626112.123,"uri":"/predict/a:-,b","upstream_response_time":${upstream},"status":200,"request_time":0.2}`;
      const { drafts, rejects } = await convertBytes(nginx, line);
      const [{ model, total_ms, stages_ms } = {}] = drafts;
      return rejects[0] ?? [model, total_ms, stages_ms?.downstream];
    };
    expect(await stageOf('-')).toEqual(['a:-,b', 200, undefined]);
    expect(await stageOf('')).toEqual(['a:-,b', 200, undefined]);
    expect(await stageOf('0.100')).toEqual(['a:-,b', 200, 100]);
    expect(await stageOf('0.100, 0.050')).toEqual(['a:-,b', 200, 150]);
    expect(await stageOf('0.100, - : 0.050')).toEqual(['a:-,b', 200, 150]);
    expect(await stageOf('nonsense')).toMatch(/^invalid_json: /);
  });

  it('ingress-nginx: the format before 0.25', async () => {
    const line =
      '192.0.2.1 - [192.0.2.1] - - [25/Nov/2026:17:20:11 +0000] "POST /v1 HTTP/1.1" 200 31 "-" "curl" 300 0.167 [ml-svc-80] 192.0.2.9:80 31 0.166 200 abc';
    const { drafts, rejects } = await convertBytes(nginx, line);
    expect(rejects).toEqual([]);
    const event = { id: 'abc', model: 'ml-svc-80', total_ms: 167, stages_ms: { downstream: 166 } };
    expect(drafts).toMatchObject([event]);
  });

  it('istio: a TCP connection is no request', async () => {
    const tcp =
      '[2026-11-25T17:20:11.123Z] "- - -" 0 UF,URX - - "-" 12 56 60000 - "-" "-" "-" "-" "192.0.2.9:6379" outbound|6379||redis 192.0.2.2:1 192.0.2.9:6379 192.0.2.3:1 - -';
    const json = '{"start_time":"2026-11-25T17:20:11.123Z","method":null,"duration":6,"path":null}';
    const { drafts, rejects, skipped } = await convertBytes(istio, `${tcp}\n${json}`);
    expect([drafts, rejects, skipped]).toEqual([[], [], 2]);
  });

  it('recognise a file that begins with what a server says as it starts', () => {
    const [text] = fixtureText('nginx/nginx-1.22-combined-timed.log').split('\n') as [string];
    const [json] = fixtureText('envoy/envoy-1.40-istio-default.json.log').split('\n') as [string];
    expect(nginx.recognise(`/docker-entrypoint.sh: ready\n${text}\r\n`, 'a')).toMatch(/^lines of/);
    expect(istio.recognise(`info\tEnvoy proxy is ready\n${json}\n`, 'a')).toMatch(/^keys /);
  });

  it('litellm: a payload of 2024, without the fields that came later', async () => {
    const line =
      '{"id":"a","call_type":"acompletion","response_cost":0.1,"total_tokens":7,"prompt_tokens":5,"completion_tokens":2,"startTime":1727000000.25,"endTime":1727000001.5,"completionStartTime":1727000000.5,"model":"gpt-4o","model_group":"g","metadata":{},"cache_hit":null}';
    expect(litellm.recognise(line, 'a')).toBeDefined();
    const { drafts, rejects } = await convertBytes(litellm, line);
    const tokens = { input_tokens: 5, output_tokens: 2 };
    const event = { ts: 1_727_000_000_250, model: 'gpt-4o', id: 'a', total_ms: 1250 };
    expect([drafts, rejects]).toEqual([[{ ...event, ...tokens, stages_ms: {} }], []]);
  });

  it('read a line with a list of requests', async () => {
    const [first, second] = fixtureText('litellm/standard-logging-payload.ndjson').split('\n') as [
      string,
      string,
    ];
    const each = await convertBytes(litellm, `${first}\n${second}`);
    expect(litellm.recognise(`[${first},${second}]`, 'a')).toBeDefined();
    const list = await convertBytes(litellm, `[${first},${second},{"id":1}]`);
    expect(list.drafts).toEqual(each.drafts);
    expect(list.rejects).toHaveLength(1);
    expect(list.origins.map(String)).toEqual(['{"id":1}']);
  });

  it('reject text that they cannot read, and say why', async () => {
    const [line] = fixtureText('nginx/nginx-1.22-combined-timed.log').split('\n') as [string];
    const lines = [
      '2026/11/25 16:42:07 [error] 7#7: upstream timed out',
      line.replace(/ rt=.*/, ''),
      line.replace(' "client/1"', ''),
      line.replace('25/Nov', '31/Nov'),
      line.replace('rt=0.167', 'rt=soon'),
      line.replace('rt=0.167 ', ''),
      line.slice(0, -1),
      '{"msec":1',
      '',
      line,
    ];
    const { drafts, rejects } = await convertBytes(nginx, lines.join('\n'));
    expect(drafts.length).toBe(1);
    const form =
      "invalid_line: a line must be JSON, or nginx's combined format with rt=$request_time, or ingress-nginx's upstreaminfo: it is ";
    expect(rejects).toEqual([
      `${form}${JSON.stringify(lines[0])}`,
      ...[1, 2].map((at) => `${form}${JSON.stringify(lines[at])}`),
      'bad_ts: "msec" must be a number (s) or an RFC 3339 date-time: it is "2026-11-31T16:42:07+00:00"',
      'bad_duration: "request_time" must be a number (s): it is "soon"',
      'missing_ts: the start must be at "msec" or "request_time": nothing is there',
      `${form}${JSON.stringify(lines[6])}`,
      'invalid_json: a line must be valid JSON: it is "{\\"msec\\":1"',
    ]);
    const envoyText = await convertBytes(istio, '[x] "GET / HTTP/1.1" 200 - 0 0 1');
    expect(envoyText.rejects).toEqual([
      'invalid_line: a line must be JSON, or the default format of Envoy or Istio: it is "[x] \\"GET / HTTP/1.1\\" 200 - 0 0 1"',
    ]);
  });

  it('show both ends of a long line that they cannot read: its times are at the end', async () => {
    const [line] = fixtureText('nginx/nginx-1.22-combined-timed.log').split('\n') as [string];
    const long = `${line.replace('client/1', 'x'.repeat(300)).replace(/ rt=.*/, '')} rt=0.167 s`;
    const { rejects } = await convertBytes(nginx, long);
    expect(rejects).toEqual([
      expect.stringMatching(/^invalid_line: .*: it is "127\.0\.0\.1 - .* … x+\\" rt=0\.167 s"$/),
    ]);
    expect(rejects[0]).toContain(JSON.stringify(`${long.slice(0, 80)} … ${long.slice(-80)}`));
  });

  it.each([
    [istio, 'envoy/envoy-1.40-istio-default.json.log', 'envoy-istio'],
    [nginx, 'nginx/nginx-1.22-timing.json.log', 'nginx-timing-json'],
    [nginx, 'nginx/ingress-nginx-upstreaminfo.log', 'ingress-nginx'],
  ] as const)('$name: lines as log shippers wrap them', async (format, file, name) => {
    const lines = fixtureBytes(file).toString('utf8').trim().split('\n');
    const wrapped = lines.map((line, at) =>
      JSON.stringify(at % 2 === 0 ? { '@timestamp': 'x', message: line } : { log: `${line}\n` }),
    );
    await expectExactly(format, wrapped.join('\n'), readLines(`expected/${name}.ndjson`));
    const found = Object.values(formats).filter((each) => each.recognise(wrapped.join('\n'), 'a'));
    expect(found).toEqual([format]);
  });

  it('recognise their own file and no other', () => {
    const files = {
      litellm: 'litellm/standard-logging-payload.ndjson',
      envoy: 'envoy/envoy-1.40-durations.json.log',
      istio: 'envoy/envoy-1.40-istio-default.json.log',
      nginx: 'nginx/nginx-1.22-timing.json.log',
    };
    const texts = [
      ['istio', 'envoy/envoy-1.40-default-text.log'],
      ['nginx', 'nginx/nginx-1.22-combined-timed.log'],
      ['nginx', 'nginx/ingress-nginx-upstreaminfo.log'],
    ] as const;
    for (const [name, file] of [...Object.entries(files), ...texts]) {
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
