import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { run } from '../../captured-io.ts';

const folder = mkdtempSync(join(tmpdir(), 'tailmark-convert-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const path = (name: string) => join(folder, name);
const fixture = (name: string) =>
  new URL(`../../../fixtures/formats/${name}`, import.meta.url).pathname;
const lambda = fixture('aws-lambda/cloudwatch_log_timeout.json');

it('recognises the format, and writes events to standard output', async () => {
  const { exitCode, out, err } = await run(['convert', lambda]);
  expect(exitCode).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ model: 'storms-cloudwatch-event', status: 'timeout' });
  expect(err).toBe(
    'Format: aws_lambda (objects with logGroup and logEvents)\n1 event to standard output\n',
  );
});

it('gives each event the weight that the file does not say', async () => {
  const trace = fixture('triton/trace-2.51.json');
  const argv = ['convert', '--format', 'triton', '--start', '2026-11-25T12:00:00Z', trace];
  const { out } = await run([...argv, '--weight', '1000']);
  const weights = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).weight);
  expect(weights).toEqual(Array(73).fill(1_000));
  const { exitCode, err } = await run([...argv, '--weight', '0']);
  expect([exitCode, err]).toEqual([
    64,
    expect.stringContaining('--weight must be a whole number from 1 to 10000'),
  ]);
});

it('reads gzip whatever the name, and writes it by the name', async () => {
  const [from, to] = [path('batch.json'), path('events.ndjson.gz')];
  writeFileSync(from, gzipSync(readFileSync(lambda)));
  const { exitCode, out } = await run(['convert', from, '--to', to, '--model', 'mine']);
  expect([exitCode, out]).toEqual([0, '']);
  const [line = ''] = gunzipSync(readFileSync(to)).toString('utf8').split('\n');
  expect(JSON.parse(line)).toMatchObject({ model: 'mine', total_ms: 3130.18 });
});

it('fails where nothing is an event', async () => {
  const from = path('services.json');
  const span = { traceID: 'a1', spanID: 'b1', operationName: 'GET /', references: [] };
  const timed = { ...span, startTime: 1e15, duration: 5, tags: [], processID: 'p1' };
  const processes = { p1: { serviceName: 'shop', tags: [] } };
  writeFileSync(from, JSON.stringify({ data: [{ traceID: 'a1', spans: [timed], processes }] }));
  const { exitCode, out, err } = await run(['convert', from]);
  expect([exitCode, out, err.split('\n').at(-2)]).toEqual([
    2,
    '',
    '0 events to standard output, 1 skipped: no rule maps them to an event, or they come again',
  ]);
});

it('counts what it rejects, prints the first, and keeps all', async () => {
  const [from, kept] = [path('broken.json'), path('rejected.ndjson')];
  const batch = (duration: string) =>
    JSON.stringify({
      messageType: 'DATA_MESSAGE',
      logGroup: 'g',
      logEvents: [
        { timestamp: 1_790_000_000_000, message: `REPORT RequestId: a\tDuration: ${duration} ms` },
      ],
    });
  const broken = ['{', ...['u', 'v', 'w', 'x', 'y', 'z'].map(batch)];
  writeFileSync(from, [batch('5'), ...broken, batch('6')].join('\n'));
  const { exitCode, out, err } = await run(['convert', from, '--rejected', kept]);
  expect(exitCode).toBe(2);
  expect(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).total_ms),
  ).toEqual([5, 6]);
  const letters = readFileSync(kept, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(letters.map(({ bytes }) => bytes)).toEqual(broken);
  expect(letters.map(({ reason }) => reason)).toEqual([
    'invalid_json',
    ...Array(6).fill('missing_durations'),
  ]);
  expect(err.match(/^Rejected \(\w+\)/gm)).toEqual([
    'Rejected (invalid_json)',
    ...Array(4).fill('Rejected (missing_durations)'),
  ]);
  expect(err).toContain(
    '2 events to standard output, 7 rejected (missing_durations 6, invalid_json 1)',
  );
});

it('checks events by the contract of timing events', async () => {
  const from = path('old.json');
  const message = 'REPORT RequestId: a\tDuration: 5 ms';
  writeFileSync(from, JSON.stringify({ logGroup: 'g', logEvents: [{ timestamp: 100, message }] }));
  const { exitCode, out, err } = await run(['convert', from]);
  expect([exitCode, out]).toEqual([2, '']);
  expect(err).toContain('Rejected (ts_out_of_range): ts must lie in the years 2000 to 2099');
  expect(err).toContain('0 events to standard output, 1 rejected (ts_out_of_range 1)');
});

it.each([
  ['a file of no known format', 'plain text', [], 'must be of a format that can be recognised'],
  ['an unknown format', '{}', ['--format', 'k7'], 'must be auto or a known format: it is "k7"'],
])('refuses %s, and lists the formats', async (name, text, flags, problem) => {
  const from = path(`${name}.txt`);
  writeFileSync(from, text);
  const { exitCode, out, err } = await run(['convert', from, ...flags]);
  expect([exitCode, out]).toEqual([64, '']);
  expect(err).toContain(problem);
  expect(err).toContain('Name the format by --format: ');
  expect(err).toContain('For JSON or Avro of your own give --mapping FILE.');
});

it.each([
  ['', []],
  ['\uFEFF\n \n', []],
  ['', ['--format', 'nginx']],
  ['', ['--mapping', 'avro']],
])('says of the file %j with the flags %j that it is empty', async (text, flags) => {
  const [from, rules] = [path('empty'), path('empty.yaml')];
  writeFileSync(from, text);
  writeFileSync(rules, 'start: {path: at, unit: s}\ntotal: {path: took, unit: s}\nmodel: name\n');
  const given = flags.map((flag) => (flag === 'avro' ? rules : flag));
  for (const bytes of [text, gzipSync(text)]) {
    writeFileSync(from, bytes);
    const { exitCode, out, err } = await run(['convert', from, ...given]);
    expect([exitCode, out]).toEqual([64, '']);
    expect(err).toContain(`Cannot read ${from}: it is empty\n`);
  }
});

it('passes over an empty file beside others, and refuses several that are empty', async () => {
  const [empty, other] = [path('empty.log'), path('empty.1')];
  for (const file of [empty, other]) writeFileSync(file, '');
  const { exitCode, err } = await run(['convert', empty, lambda]);
  expect([exitCode, err]).toEqual([
    0,
    'Format: aws_lambda (objects with logGroup and logEvents)\n1 event to standard output\n',
  ]);
  const refused = await run(['convert', empty, other]);
  expect(refused.exitCode).toBe(64);
  expect(refused.err).toContain(`Cannot read ${empty}, ${other}: they are empty\n`);
});

it('does not call a file empty that begins with 64 Ki blanks', async () => {
  const from = path('blanks.log');
  const line = readFileSync(fixture('nginx/nginx-1.22-timing.json.log'), 'utf8').split('\n', 1);
  writeFileSync(from, '\n'.repeat(100_000) + line);
  const { exitCode, err } = await run(['convert', from, '--format', 'nginx']);
  expect([exitCode, err]).toEqual([0, '1 event to standard output\n']);
});

it('says of what it wrote itself that these are timing events, and what reads them', async () => {
  const to = path('own-output.ndjson.gz');
  await run(['convert', lambda, '--to', to]);
  const { exitCode, out, err } = await run(['convert', to]);
  expect([exitCode, out, err]).toEqual([
    64,
    '',
    'error: Cannot convert: own-output.ndjson.gz must be of another format: it holds timing events already\n' +
      'hint: Send them by tailmark replay FILE, or print their tails by tailmark tails --input FILE.\n',
  ]);
});

it('refuses a file that it cannot read', async () => {
  const { exitCode, err } = await run(['convert', path('none.json')]);
  expect(exitCode).toBe(64);
  expect(err).toContain(`Cannot read ${path('none.json')}: `);
  expect(err).toContain('TAILMARK_FILE_UNREADABLE');
});

describe('a gzip that is cut short', () => {
  const k6 = readFileSync(fixture('k6/k6-1.8.json.gz'));
  const cut = (name: string, bytes: number) => {
    writeFileSync(path(name), k6.subarray(0, bytes));
    return path(name);
  };

  it('is named with the number of events that were written before', async () => {
    const [from, to] = [cut('cut.gz', 4_000), path('before.ndjson.gz')];
    const { exitCode, err } = await run(['convert', from, '--to', to]);
    expect([exitCode, err]).toEqual([
      1,
      'Format: k6 (lines with metric and type)\n' +
        `error: Cannot read ${from} to its end: its gzip is cut short or damaged (unexpected end of file); ` +
        `30 events were written to ${to} before\n` +
        'hint: Copy the file again; gzip -t checks it.\ncode: TAILMARK_FILE_UNREADABLE\n',
    ]);
    expect(gunzipSync(readFileSync(to)).toString('utf8').trim().split('\n')).toHaveLength(30);
  });

  it('is found before anything is written where it is cut near its beginning', async () => {
    const [from, to] = [cut('short.gz', 900), path('nothing.ndjson')];
    const { exitCode, err } = await run(['convert', lambda, from, '--to', to]);
    expect(exitCode).toBe(1);
    expect(err).toContain(`Cannot read ${from} to its end: `);
    expect(err).toContain('; no event was written\n');
    expect(existsSync(to)).toBe(false);
  });
});

it('reads JSON lines by a mapping of your own, and names what is wrong in one', async () => {
  const [from, good, bad] = [path('own.ndjson'), path('own.yaml'), path('bad.yaml')];
  writeFileSync(from, '{"at":1790000000.25,"took":0.125,"name":"ranker"}\n');
  writeFileSync(
    good,
    'start: { path: at, unit: s }\ntotal: { path: took, unit: s }\nmodel: name\n',
  );
  writeFileSync(bad, 'start: at\nmodle: name\n');
  const { exitCode, out } = await run(['convert', from, '--mapping', good]);
  expect(exitCode).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ ts: 1_790_000_000_250, model: 'ranker', total_ms: 125 });
  const { exitCode: refused, err } = await run(['convert', from, '--mapping', bad]);
  expect(refused).toBe(78);
  expect(err).toContain('modle');
});

it('says which fields of a mapping no record has', async () => {
  const [from, rules] = [path('absent.ndjson'), path('absent.yaml')];
  const start = 'start: {path: at, unit: s}\nmodel: {value: m}\n';
  const lines = [1, 2, 3].map((at) => `{"at":${1_790_000_000 + at},"took":${at},"q":1}`);
  writeFileSync(from, [...lines, '{"at":"never"}'].join('\n'));
  const saidBy = async (mapping: string) => {
    writeFileSync(rules, start + mapping);
    const { err } = await run(['convert', from, '--mapping', rules]);
    return err.trim().split('\n').at(-1);
  };
  const counts = '3 events to standard output, 1 rejected (bad_ts 1)';
  const stage = 'stages: [{name: queue, path: q, unit: s}]\n';
  expect(
    await saidBy(
      `${stage}total: {path: total_msec, unit: ms}\nstatus: {path: statuss, map: {OK: ok}}\nid: request_idd\n`,
    ),
  ).toBe(`${counts}; total, status and id were found in none of 3 records`);
  expect(await saidBy('total: {path: took, unit: s}\nstages: {path: all, unit: s}\n')).toBe(
    `${counts}; stages was found in none of 3 records`,
  );
  expect(await saidBy(`${stage}total: {path: [none, took], unit: s}\n`)).toBe(counts);
});

it('says of several Avro containers together which fields no record has', async () => {
  const [rules, from] = [path('few.yaml'), fixture('avro/timings-object-container.avro')];
  writeFileSync(
    rules,
    'start: {path: start_time}\ntotal: {path: total_ms, unit: ms}\nmodel: model\nid: idd\n',
  );
  const { exitCode, err } = await run(['convert', from, from, '--mapping', rules]);
  expect([exitCode, err]).toEqual([
    0,
    '40 events to standard output; id was found in none of 40 records\n',
  ]);
});

it('reads Avro containers, gzipped or not, by such a mapping; other binary files are refused', async () => {
  const bytes = readFileSync(fixture('avro/timings-object-container.avro'));
  const [from, packed, other, rules] = ['a.avro', 'a.gz', 'other', 'avro.yaml'].map(path) as [
    string,
    string,
    string,
    string,
  ];
  writeFileSync(from, bytes);
  writeFileSync(packed, gzipSync(bytes));
  writeFileSync(other, bytes.subarray(1));
  writeFileSync(
    rules,
    'start: {path: start_time}\ntotal: {path: total_ms, unit: ms}\nmodel: model\n',
  );
  for (const file of [from, packed]) {
    const { exitCode, out } = await run(['convert', file, '--mapping', rules]);
    expect(exitCode).toBe(0);
    const lines = out.trim().split('\n');
    expect(lines).toHaveLength(20);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      ts: 1795608000123,
      total_ms: 57.981,
      model: 'ranker',
    });
  }
  const { exitCode, err } = await run(['convert', other, '--mapping', rules]);
  expect([exitCode, err]).toEqual([64, expect.stringContaining('it must be UTF-8 text')]);
});
