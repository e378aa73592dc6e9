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
});
