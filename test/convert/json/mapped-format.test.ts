import { describe, expect, it } from 'vitest';
import { mappedFormat } from '../../../src/convert/json/mapped-format.ts';
import { convertBytes } from './collect.ts';

const yaml = `
start: {path: t, unit: ms}
total: {path: took, unit: ms}
model: m
`;
const line = '{"t":1795608000123,"took":5,"m":"ranker"}';
const draft = { ts: 1795608000123, total_ms: 5, model: 'ranker' };

/** What is said about a mapping that cannot be used. */
function refusalOf(text: string): string {
  try {
    mappedFormat(text, 'my.yaml');
  } catch (error) {
    return (error as Error).message;
  }
  return 'taken';
}

describe("a user's mapping", () => {
  it('converts lines', async () => {
    const input = `\uFEFF${line}\r\n\n  \n${line}\n${line}`;
    const { drafts, rejects } = await convertBytes(mappedFormat(yaml, 'my.yaml'), input);
    expect(drafts).toEqual([draft, draft, draft]);
    expect(rejects).toEqual([]);
    expect(mappedFormat(yaml, 'my.yaml').recognise(line, 'a')).toBeUndefined();
  });

  it('takes a model from the command line', async () => {
    const input = line.replace('"m"', '"x"');
    const { drafts } = await convertBytes(mappedFormat(yaml, 'my.yaml'), input, 'given');
    expect(drafts).toEqual([{ ...draft, model: 'given' }]);
  });

  it('rejects bad lines with their bytes and reads on', async () => {
    const broken = Buffer.from([0x22, 0xff, 0x22]);
    const input = Buffer.concat([
      Buffer.from(`{"t":\n[]\nNaN\n`),
      broken,
      Buffer.from(`\n{"t":"NaN"}\n${line}\n`),
    ]);
    const { drafts, rejects, origins } = await convertBytes(mappedFormat(yaml, 'my.yaml'), input);
    expect(drafts).toEqual([draft]);
    expect(rejects).toEqual([
      'invalid_json: a line must be valid JSON: it is "{\\"t\\":"',
      'not_an_object: the line must hold an object: it is an empty list',
      'invalid_json: a line must be valid JSON: it is "NaN"',
      'invalid_utf8: a line must be UTF-8: some bytes are not',
      'bad_ts: "t" must be a number (ms) or an RFC 3339 date-time: it is "NaN"',
    ]);
    expect(origins[3]).toEqual(broken);
  });

  it('rejects a line beyond 16 MiB and reads on', async () => {
    const most = 16 * 1024 * 1024;
    const padded = line.padEnd(most, ' ');
    const input = `${padded}\n${padded} \n${line}`;
    const { drafts, rejects, origins } = await convertBytes(mappedFormat(yaml, 'my.yaml'), input);
    expect(drafts).toEqual([draft, draft]);
    expect(rejects).toEqual([
      'message_too_large: a line must have at most 16777216 bytes: it has more',
    ]);
    expect(origins[0]?.length).toBe(most);
  });

  it('that is wrong is refused with every place', () => {
    expect(
      refusalOf(`
start: {path: t, unit: sec}
totl: {path: took, unit: ms}
model: {path: p, patern: x}
version: a..b
host: []
where: {}
status: {path: s, map: {5xx: bad}}
stages: [{name: a, path: b}]
id: {path: u, pattern: (a+)+}
`).split('\n'),
    ).toMatchInlineSnapshot(`
      [
        "Cannot use the mapping my.yaml: 9 problems",
        "  my.yaml:7:8: where must be a list",
        "  my.yaml:2:24: start.unit must be one of s, ms, us, ns",
        "  my.yaml:9:10: stages.0.unit must be one of s, ms, us, ns",
        "  my.yaml:8:30: status.map.5xx must be one of ok, error, timeout, cancelled",
        "  my.yaml:4:26: model.patern is not a key of a mapping here",
        "  my.yaml:5:10: version must be a path such as a.b[0]."c.d"",
        "  my.yaml:6:7: host must not be an empty list",
        "  my.yaml:10:24: id.pattern must be a pattern such as ^/predict/([^/?]+): it must begin with ^",
        "  my.yaml:3:7: totl is not a key of a mapping here: did you mean total?",
      ]
    `);
  });

  it.each([
    ['', 'start must be given, or else both end and total'],
    ['start: {path: a}', 'total must be given, or else end or stages'],
    ['start: 5', 'start must be'],
    ['[]', 'must be a map of keys and values'],
    [`${yaml}\nmodel: twice`, 'model must stand once'],
    [
      `${yaml}\nstages: [{name: total, path: a, unit: ms}]`,
      'stages.0.name must have a name that matches',
    ],
    [`${yaml}\n__proto__: a`, '__proto__ is not a key of a mapping here'],
    [`${yaml}\nstages: {path: a}`, 'stages.unit must'],
    [`${yaml}\nstages: 7`, 'stages must be a list of stages, {path, unit} or'],
    [`${yaml}\nstages: []`, 'stages must not be an empty list'],
    [`${yaml}\nunwrap: []`, 'unwrap must not be an empty list'],
    [`${yaml}\nversion: 7`, 'version must be a path, {path, pattern} or {value}'],
  ])('%j is refused', (text, why) => {
    expect(refusalOf(text)).toContain(why);
  });
});
