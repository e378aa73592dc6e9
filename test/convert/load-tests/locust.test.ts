// Covers src/convert/load-tests/field-reader.ts.

import { describe, expect, it } from 'vitest';
import { locust } from '../../../src/convert/load-tests/locust.ts';
import {
  convert,
  expectedEvents,
  expectSameEvents,
  fixture,
  fixtureText,
  textFile,
} from '../conversion.ts';

const path = 'locust/requests.csv';
const head = 'timestamp,request_type,name,response_time_ms,response_length,status_code,exception';

describe('locust', () => {
  it('gives each of 342 requests as an independent script does', async () => {
    const { events, rejects } = await convert(locust, fixture(path));
    expect(rejects).toEqual([]);
    expect(events).toHaveLength(342);
    expectSameEvents(events, expectedEvents('locust-requests'));
  });

  it('reads a byte order mark and CRLF alike', async () => {
    const text = `\ufeff${fixtureText(path).replaceAll(/\r?\n/g, '\r\n')}`;
    const { events, rejects } = await convert(locust, textFile(text));
    expect(rejects).toEqual([]);
    expectSameEvents(events, expectedEvents('locust-requests'));
  });

  it('reads a file without a header, and an origin again as it was', async () => {
    const { events, origins } = await convert(locust, textFile('1795625050.126,GET,/a,1.5,2,200,'));
    expect(events).toEqual([
      {
        ...{ ts: 1795625050126, model: 'a', request_type: 'GET', status: 'ok' },
        ...{ response_bytes: 2, total_ms: 1.5 },
      },
    ]);
    expect((await convert(locust, textFile(origins[0] ?? ''))).events).toEqual(events);
  });

  it.each([
    'Type,Name,Request Count,Failure Count',
    'Timestamp,User Count,Type,Name,Requests/s',
    'Method,Name,Error,Occurrences',
  ])('says that statistics hold no requests: %s', async (header) => {
    const text = `${header}\nPOST,/a,1,2\n`;
    expect(locust.recognise(text, 'run_stats.csv')).toBe('header of statistics');
    const { events, rejects } = await convert(locust, textFile(text));
    expect([events, rejects.map(({ detail }) => detail)]).toEqual([
      [],
      ['text must hold requests: it has statistics, whose percentiles are rounded'],
    ]);
  });

  it('rejects a truncated line and goes on', async () => {
    const text = `${head}\n1795625050.1,POST,/a\n1795625050.2,POST,/a,5,1,200,\n`;
    const { events, rejects } = await convert(locust, textFile(text));
    expect(events).toHaveLength(1);
    expect(rejects.map(({ reason, detail }) => [reason, detail])).toEqual([
      ['invalid_line', 'Line 2 must have 7 fields: it has 3'],
    ]);
  });

  it('reads an exception of several lines, and tells timeouts', async () => {
    const text = `${head}\n1795625050.1,POST,/a,5,1,0,"read\ntimed out, ""again"""\n`;
    const { events } = await convert(locust, textFile(text));
    expect(events).toMatchObject([{ status: 'timeout' }]);
  });

  it('loses one line to a quote that nobody closed', async () => {
    const good = '1795625050.2,POST,/a,5,1,200,\n';
    const { events, rejects } = await convert(
      locust,
      textFile(`${head}\n1795625050.1,POST,/a,5,1,0,"open\n${good.repeat(500)}`),
    );
    expect(events).toHaveLength(500);
    expect(rejects).toHaveLength(1);
    expect(rejects[0]?.detail).toMatch(/^Line 2 must be CSV/);
  });

  it.each([
    ['x,POST,/a,5,1,200,', 'bad_ts', 'Line 2: timestamp must be seconds since 1970: it is "x"'],
    [
      '1795625050,POST,/a,-5,1,200,',
      'bad_duration',
      'Line 2: response_time_ms must be a number >= 0: it is "-5"',
    ],
  ])('rejects %s', async (line, reason, detail) => {
    const { rejects } = await convert(locust, textFile(`${head}\n${line}\n`));
    expect(rejects).toMatchObject([{ reason, detail, bytes: `${head}\n${line}\n` }]);
  });

  it('is recognised by its header', () => {
    expect(locust.recognise(fixtureText(path), 'requests.csv')).toContain('header');
    expect(locust.recognise('a,b\n', 'requests.csv')).toBeUndefined();
  });
});
