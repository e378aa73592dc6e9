import { describe, expect, it } from 'vitest';
import type { InputFile } from '../../../src/convert/file-format.ts';
import { jmeterXml } from '../../../src/convert/load-tests/jmeter-xml.ts';
import {
  convert,
  expectedEvents,
  expectSameEvents,
  fixture,
  fixtureText,
  textFile,
} from '../conversion.ts';

const path = 'jmeter/sample_log1-first-500.jtl';
const sample = '<sample t="5" ts="1132021485561" s="true" lb="a"/>';
const laughs = [
  '<?xml version="1.0"?>\n<!DOCTYPE lolz [\n<!ENTITY lol0 "lol">',
  ...Array.from({ length: 9 }, (_, i) => `<!ENTITY lol${i + 1} "${`&lol${i};`.repeat(10)}">`),
  `]>\n<testResults version="1.2"><sample lb="&lol9;" t="1" ts="1132021485561" s="true"/></testResults>`,
].join('\n');

describe('jmeter_xml', () => {
  it('gives each of 500 samples as an independent script does', async () => {
    const { events, rejects } = await convert(jmeterXml, fixture(path));
    expect(rejects).toEqual([]);
    expect(events).toHaveLength(500);
    expectSameEvents(events, expectedEvents('jmeter-xml'));
  });

  it('reads a byte order mark, CRLF and chunks of a few bytes alike', async () => {
    const text = `\ufeff${fixtureText(path).replaceAll(/\r?\n/g, '\r\n')}`;
    const { events, rejects } = await convert(jmeterXml, textFile(text));
    expect(rejects).toEqual([]);
    expectSameEvents(events, expectedEvents('jmeter-xml'));
  });

  it('reads an origin again as it was', async () => {
    const text =
      '<testResults><sample t="5" ts="1132021485561" s="false" lb="a&quot;&lt;&#10;b"/></testResults>';
    const { events, origins } = await convert(jmeterXml, textFile(text));
    expect(events).toMatchObject([{ model: 'a"<\nb', status: 'error', total_ms: 5 }]);
    expect((await convert(jmeterXml, textFile(origins[0] ?? ''))).events).toEqual(events);
  });

  it('refuses a billion laughs', async () => {
    const { events, rejects } = await convert(jmeterXml, textFile(laughs));
    expect(events).toEqual([]);
    expect(rejects).toHaveLength(1);
    expect(rejects[0]?.detail).toContain('must have no DOCTYPE and no entities');
  });

  it.each([
    ['an entity that nobody declared', `<testResults><sample lb="&lol;"/></testResults>`],
    ['a truncated file', `<testResults>${sample}<sample t="5" ts="11320`],
    ['a file without its end', `<testResults>${sample}`],
    ['elements without end', `<testResults>${'<a>'.repeat(1000)}`],
    ['no XML', 'timeStamp,elapsed'],
    ['an empty file', ''],
  ])('rejects %s once', async (_, text) => {
    const { rejects } = await convert(jmeterXml, textFile(text));
    expect(rejects.map(({ reason }) => reason)).toEqual(['invalid_line']);
  });

  it('keeps the samples before a truncated end', async () => {
    const text = fixtureText(path).trimEnd().slice(0, -60);
    const { events, rejects } = await convert(jmeterXml, textFile(text));
    expect(events).toHaveLength(499);
    expect(rejects).toHaveLength(1);
  });

  it('skips samples inside a sample, and rejects one without a duration', async () => {
    const text = `<testResults>\n<sample t="9" ts="1132021485561" s="true" lb="all">${sample}${sample}</sample>
<sample ts="1132021485561" s="true" lb="a"/>${sample}</testResults>`;
    const { events, rejects, skipped } = await convert(jmeterXml, textFile(text));
    expect(events.map(({ model }) => model)).toEqual(['all', 'a']);
    expect(skipped).toBe(2);
    expect(rejects).toMatchObject([{ detail: 'Line 3: t must be a number >= 0: it is absent' }]);
  });

  it('stops at an attribute without end', async () => {
    let chunkCount = 0;
    const endless: InputFile = {
      name: 'endless',
      async *open() {
        yield Buffer.from('<testResults><sample lb="');
        for (; chunkCount < 1000; chunkCount++) yield Buffer.alloc(64 * 1024, 'x');
      },
    };
    const { rejects } = await convert(jmeterXml, endless);
    expect(rejects).toHaveLength(1);
    expect(chunkCount).toBeLessThan(260);
  });

  it('reads over control characters in a response', async () => {
    const sample = '<httpSample t="5" ts="1551783627191" s="true" lb="/b"';
    const text = `<testResults>${sample} rm="&#x0;"><responseData>\u0001&#x1;</responseData></httpSample>${sample}/></testResults>`;
    const { events, rejects } = await convert(jmeterXml, textFile(text));
    expect([events.length, rejects]).toEqual([2, []]);
  });
});
