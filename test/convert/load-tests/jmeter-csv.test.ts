// Covers src/convert/load-tests/csv-records.ts, src/convert/load-tests/csv-table.ts,
// src/convert/load-tests/jmeter-sample.ts and src/convert/load-tests/labels.ts.

import { describe, expect, it } from 'vitest';
import { jmeterCsv } from '../../../src/convert/load-tests/jmeter-csv.ts';
import {
  convert,
  expectedEvents,
  expectSameEvents,
  fixture,
  fixtureText,
  textFile,
} from '../conversion.ts';

const path = 'jmeter/HTMLReportTestFile.csv';

describe('jmeter_csv', () => {
  it.each([
    [path, 'jmeter-csv', 255],
    ['jmeter/HTMLReportFalseTestFile.csv', 'jmeter-csv-false', 50],
  ])('gives each sample of %s as an independent script does', async (file, name, count) => {
    const { events, rejects } = await convert(jmeterCsv, fixture(file));
    expect(rejects).toEqual([]);
    expect(events).toHaveLength(count);
    expectSameEvents(events, expectedEvents(name));
  });

  it('reads a file without its header alike', async () => {
    const text = fixtureText(path).replace(/^.*\n/, '');
    expect(jmeterCsv.recognise(text, 'a.jtl')).toBe('17 fields as JMeter writes them');
    const { events, rejects } = await convert(jmeterCsv, textFile(text));
    expect(rejects).toEqual([]);
    expectSameEvents(events, expectedEvents('jmeter-csv'));
  });

  it('reads a byte order mark, CRLF and a second header alike', async () => {
    const [head = ''] = fixtureText(path).split('\n', 1);
    const text = `\ufeff${fixtureText(path).trimEnd()}\n${head}\n`.replaceAll(/\r?\n/g, '\r\n');
    const { events, rejects } = await convert(jmeterCsv, textFile(text));
    expect(rejects).toEqual([]);
    expectSameEvents(events, expectedEvents('jmeter-csv'));
  });

  it('rejects a truncated last line', async () => {
    const text = fixtureText(path).trimEnd().slice(0, -30);
    const { events, rejects } = await convert(jmeterCsv, textFile(text));
    expect(events).toHaveLength(254);
    expect(rejects).toHaveLength(1);
    expect(rejects[0]?.detail).toMatch(/^Line 256 must have 17 fields: it has \d+$/);
  });

  it('tells timeouts, and takes the model that was asked for', async () => {
    const text =
      'timeStamp,elapsed,label,responseCode,success\n' +
      '1551783627191,9,a,Non HTTP response code: java.net.SocketTimeoutException,false\n' +
      '1551783627191,9,a,200,maybe\n';
    const { events, rejects } = await convert(jmeterCsv, textFile(text), { model: 'm' });
    expect(events).toMatchObject([{ model: 'm', status: 'timeout', total_ms: 9 }]);
    expect(rejects).toMatchObject([
      { reason: 'bad_status', detail: 'Line 3: success must be true or false: it is "maybe"' },
    ]);
  });

  it.each([';', '\t', '|'])('reads the same samples with the delimiter %j', async (delimiter) => {
    const header = ['timeStamp', 'elapsed', 'label', 'responseCode', 'success', 'Latency'];
    const row = ['1551783627191', '9', `"a${delimiter} ""b"""`, '200', 'true', '3'];
    const text = `${header.join(delimiter)}\n${row.join(delimiter)}\n`;
    expect(jmeterCsv.recognise(text, 'x')).toBe('header with timeStamp and elapsed');
    const { events, origins, rejects } = await convert(jmeterCsv, textFile(text));
    expect(rejects).toEqual([]);
    expect(events).toEqual([
      {
        ...{ ts: 1_551_783_627_191, model: `a${delimiter} "b"`, status: 'ok', total_ms: 9 },
        stages_ms: { first_byte: 3 },
      },
    ]);
    expect(origins).toEqual([text]);
    const [, ...withoutHeader] = fixtureText(path).replaceAll(',', delimiter).split('\n');
    const alone = withoutHeader.join('\n');
    expect(jmeterCsv.recognise(alone, 'x')).toBe('17 fields as JMeter writes them');
    expect((await convert(jmeterCsv, textFile(alone))).events).toHaveLength(255);
  });

  it.each([
    ['2019/03/05 11:00:27.191', 1_551_783_627_191],
    ['2019-03-05 11:00:27', 1_551_783_627_000],
    ['2019-03-05T11:00:27,19', 1_551_783_627_190],
    ['2019-03-05T12:00:27.191+01:00', 1_551_783_627_191],
  ])('reads the time %s', async (time, ts) => {
    const text = `timeStamp;elapsed;label;success\n${time};9;a;true\n`;
    const { events } = await convert(jmeterCsv, textFile(text));
    expect(events).toMatchObject([{ ts, total_ms: 9 }]);
  });

  it('rejects the sums that the mode Statistical writes', async () => {
    const rows = '1551783627191,90,a,true,10,1\n1551783627191,9,a,true,1,0\n';
    const text = `timeStamp,elapsed,label,success,SampleCount,ErrorCount\n${rows}`;
    const { events, rejects } = await convert(jmeterCsv, textFile(text));
    expect(events).toMatchObject([{ total_ms: 9 }]);
    expect(rejects.map(({ detail }) => detail)).toEqual([
      'Line 2: SampleCount must be 1, as the sum of several has the time of none: it is "10"',
    ]);
  });

  it('tells the status by the code where success was not saved', async () => {
    const codes = ['200', '302', '404', '504', 'Non HTTP response code: java.net.ConnectException'];
    const rows = [...codes, ''].map((code) => `1551783627191,9,a,${code}\n`);
    const text = `timeStamp,elapsed,label,responseCode\n${rows.join('')}2019/02/30 00:00:00,9,a,200`;
    const { events, rejects } = await convert(jmeterCsv, textFile(text));
    expect(events.map(({ status }) => status)).toEqual(['ok', 'ok', 'error', 'timeout', 'error']);
    expect(rejects.map(({ detail }) => detail)).toEqual([
      'Line 7: success must be true or false: it is absent',
      'Line 8: timeStamp must be a time that there is: it is "2019/02/30 00:00:00"',
    ]);
  });
});
