import { describe, expect, it } from 'vitest';
import { k6 } from '../../../src/convert/load-tests/k6.ts';
import {
  convert,
  expectedEvents,
  expectSameEvents,
  fixture,
  fixtureText,
  textFile,
} from '../conversion.ts';

const jsonPath = 'k6/k6-1.8.json.gz';
const csvPath = 'k6/k6-1.8.csv';
const jsonText = fixtureText(jsonPath);

describe('k6', () => {
  it('gives each of 61 requests of JSON as an independent script does', async () => {
    const { events, rejects, skipped } = await convert(k6, fixture(jsonPath));
    expect(rejects).toEqual([]);
    expect(events).toHaveLength(61);
    expect(skipped).toBeGreaterThan(0);
    expectSameEvents(events, expectedEvents('k6'));
  });

  it('gives the same requests of CSV, up to a second early', async () => {
    const json = (await convert(k6, fixture(jsonPath))).events;
    const { events, rejects } = await convert(k6, fixture(csvPath));
    expect(rejects).toEqual([]);
    const earlyMs = json.map(({ ts }, i) => Number(ts) - Number(events[i]?.ts));
    expect(earlyMs.every((ms) => ms >= 0 && ms <= 1000)).toBe(true);
    expectSameEvents(
      events.map((event, i) => ({ ...event, ts: json[i]?.ts })),
      expectedEvents('k6'),
    );
  });

  it.each([
    ['JSON', jsonText],
    ['CSV', fixtureText(csvPath)],
  ])('reads a byte order mark and CRLF in %s alike', async (_, text) => {
    const { events } = await convert(k6, textFile(text));
    const windows = `\ufeff${text.replaceAll(/\r?\n/g, '\r\n')}`;
    const { events: again, rejects } = await convert(k6, textFile(windows, 1000));
    expect(rejects).toEqual([]);
    expect(events).toHaveLength(61);
    expect(again).toEqual(events);
  });

  it.each([
    ['JSON', jsonText],
    ['CSV', fixtureText(csvPath)],
  ])('reads an origin of %s again as it was', async (_, text) => {
    const { events, origins } = await convert(k6, textFile(text, 1000));
    for (const [i, origin] of origins.entries()) {
      expect((await convert(k6, textFile(origin, 1000))).events).toEqual([events[i]]);
    }
  });

  it('rejects a truncated line and the request it ends', async () => {
    const cut = jsonText.indexOf('"metric":"http_req_duration","type":"Point"') + 60;
    const { events, rejects } = await convert(k6, textFile(jsonText.slice(0, cut)));
    expect(events).toEqual([]);
    expect(rejects.map(({ reason }) => reason)).toEqual(['invalid_json', 'missing_durations']);
    expect(rejects[1]?.detail).toBe(
      'Request of line 2: http_req_duration must be a number >= 0: it is absent',
    );
  });

  it('rejects a point without its request', async () => {
    const line =
      '{"metric":"http_req_waiting","type":"Point","data":{"time":"2026-11-25T17:01:52Z","value":1}}';
    const { rejects } = await convert(k6, textFile(line));
    expect(rejects[0]?.detail).toBe(
      'Line 1: http_req_waiting must follow the point http_reqs of its request: it follows another',
    );
  });

  it.each([
    ['1795626112', 1795626112000],
    ['1795626112631', 1795626112631],
    ['1795626112631660', 1795626112631],
    ['1795626112631660616', 1795626112631],
    ['2026-11-25T17:01:52Z', 1795626112000],
  ])('reads the time %s of CSV', async (time, ms) => {
    const text = `metric_name,timestamp,metric_value\nhttp_reqs,${time},1\nhttp_req_duration,${time},0\n`;
    const { events } = await convert(k6, textFile(text), { model: 'm' });
    expect(events).toMatchObject([{ ts: ms, model: 'm', total_ms: 0 }]);
  });

  it('tells timeouts', async () => {
    const tags = '"tags":{"error_code":"1050","status":"0","expected_response":"false"}';
    const data = `"data":{"time":"2026-11-25T17:01:52Z","value":1,${tags}}`;
    const text = ['http_reqs', 'http_req_duration']
      .map((metric) => `{"metric":"${metric}","type":"Point",${data}}\n`)
      .join('');
    expect((await convert(k6, textFile(text))).events).toMatchObject([{ status: 'timeout' }]);
  });

  it.each([
    ['"status":"200"', 'ok'],
    ['"status":"404"', 'ok'],
    ['"status":"503"', 'error'],
    ['"status":"0","error_code":"1050"', 'timeout'],
    ['"status":"503","expected_response":"true"', 'ok'],
    ['"name":"x"', 'ok'],
  ])('tells the status of %s where http_req_failed is not there', async (tags, status) => {
    const data = `"data":{"time":"2026-11-25T17:01:52Z","value":1,"tags":{${tags}}}`;
    const text = ['http_reqs', 'http_req_duration']
      .map((metric) => `{"type":"Point",${data},"metric":"${metric}"}\n`)
      .join('');
    expect((await convert(k6, textFile(text))).events).toMatchObject([{ status }]);
  });

  it('takes a call by gRPC for a request', async () => {
    const point = (tags: string, value: unknown = 12.5) =>
      `{"type":"Point","metric":"grpc_req_duration","data":{"time":"2026-11-25T17:01:52.5Z","value":${value},"tags":{${tags}}}}\n`;
    const codes = ['0', '1', '4', '14'].map((code) => point(`"status":"${code}","name":"x/Infer"`));
    const text = `${codes.join('')}${point('"model":"m"')}${point('', '"x"')}`;
    const { events, origins, rejects } = await convert(k6, textFile(text), { model: 'g' });
    const call = { ts: 1795626112487, model: 'g', request_type: 'x/Infer', total_ms: 12.5 };
    expect(events).toEqual([
      { ...call, status: 'ok' },
      { ...call, status: 'cancelled' },
      { ...call, status: 'timeout' },
      { ...call, status: 'error' },
      { ts: call.ts, model: 'm', status: 'ok', total_ms: 12.5 },
    ]);
    expect(origins[0]).toBe(codes[0]);
    expect(rejects.map(({ detail }) => detail)).toEqual([
      'Line 6: grpc_req_duration must be a number >= 0: it is "x"',
    ]);
    const csv = 'metric_name,timestamp,metric_value,status\ngrpc_req_duration,1795626112,12.5,0\n';
    expect((await convert(k6, textFile(csv), { model: 'g' })).events).toEqual([
      { ts: 1795626111987, model: 'g', status: 'ok', total_ms: 12.5 },
    ]);
  });

  it('is recognised by its lines', () => {
    expect(k6.recognise(jsonText.slice(0, 65_536), 'a.json')).toBeDefined();
    expect(k6.recognise(fixtureText(csvPath), 'a.csv')).toBeDefined();
    expect(k6.recognise('{"type":"x"}', 'a.json')).toBeUndefined();
  });
});
