import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { createReplayCommand } from '../../../../src/cli/commands/traffic/replay.ts';
import { generateTraffic } from '../../../../src/generate/traffic.ts';
import { fakeTime } from '../../../generate/fake-time.ts';
import { type CommandRunOptions, runCommand } from '../../../generate/run-command.ts';

const NOW_MS = Date.UTC(2026, 10, 2, 9);
const dir = mkdtempSync(join(tmpdir(), 'tailmark-replay-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

let files = 0;
function file(content: string | Buffer, end = 'ndjson'): string {
  const path = join(dir, `${files++}.${end}`);
  writeFileSync(path, content);
  return path;
}

function replay(argv: readonly string[], options: Partial<CommandRunOptions> = {}) {
  return runCommand(createReplayCommand, argv, { time: fakeTime(NOW_MS), ...options });
}

const event = (ts: number | string, extra = '') => `{"ts":${ts},"model":"a","total_ms":1${extra}}`;

describe('tailmark replay', () => {
  it.each([
    [['missing.ndjson'], 'TAILMARK_FILE_UNREADABLE', 'Cannot read missing.ndjson: ENOENT'],
    [[tmpdir()], 'TAILMARK_FILE_UNREADABLE', 'it is a directory'],
    [['-', '--rebase', 'now'], 'TAILMARK_USAGE', '--rebase must have a file to read twice'],
    [['-', '--rebase', 'then'], 'TAILMARK_USAGE', '--rebase must be "now": it is "then"'],
    [['-', '--speed', '-1'], 'TAILMARK_USAGE', 'a number above 0, at most 1000000: it is "-1"'],
    [['-', '--per-message', 'x'], 'TAILMARK_USAGE', '--per-message must be a whole number'],
    [[], 'TAILMARK_USAGE', 'either a file or --dead-letters must be given'],
    [['-', '--dead-letters'], 'TAILMARK_USAGE', 'either a file or --dead-letters must be given'],
    [['-', '--dry-run'], 'TAILMARK_USAGE', 'must stand with --dead-letters'],
    [['-', '--group', 'g'], 'TAILMARK_USAGE', '--group and --new-group must stand with'],
    [['--dead-letters', '--reason', 'late,odd'], 'TAILMARK_USAGE', 'it is "odd"'],
  ])('refuses %j before it connects', async (argv, code, message) => {
    const error = await replay(argv).catch((thrown) => thrown);
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
    expect(error.exitCode).toBe(64);
    expect(error.run.opened).toBe(0);
  });

  it('publishes every line as it is, keyed by source', async () => {
    const lines = [event(1_000, ',"host":"h"'), ' {"total_ms":2.50, "ts":2000 }'];
    const { calls, exitCode, closed } = await replay([file(lines.join('\n'))]);
    expect(calls.flatMap(({ messages }) => messages)).toEqual([
      { key: 'a|h', value: lines[0] },
      { value: lines[1] },
    ]);
    expect(calls[0]?.topic).toBe('inference.timings.v1');
    expect([exitCode, closed]).toEqual([0, 1]);
  });

  it('sends nothing of an empty file', async () => {
    for (const path of [file(''), file(gzipSync(''), 'ndjson.gz')]) {
      const { calls, err, exitCode } = await replay([path, '--rebase', 'now']);
      expect(calls).toEqual([]);
      expect(err).toContain('Replayed 0 events in 0 messages');
      expect(exitCode).toBe(0);
    }
  });

  it('reads gzip and standard input like a plain file', async () => {
    const options = { seed: 4, startMs: NOW_MS, durationMs: 20_000, ratePerSecond: 200 };
    const lines = [...generateTraffic(options)].map((event) => JSON.stringify(event));
    const text = `${lines.join('\n')}\n`;
    const stdin = Readable.from([text.slice(0, 777), text.slice(777)]);
    const runs = [
      await replay([file(text)]),
      await replay([file(gzipSync(text), 'ndjson.gz')]),
      await replay(['-'], { io: { stdin } }),
    ];
    for (const run of runs) expect(run.lines).toEqual(lines);
  });

  it.each(['1789000000123000000', '"2099-12-31T23:59:59Z"', '"9999-12-31T23:59:59Z"'])(
    'rebases by the other events where one has the ts %s',
    async (odd) => {
      const lines = Array.from({ length: 100 }, (_, i) => event(1_000_000_000_000 + i * 1_000));
      const shifted = lines.map((_, i) => event(NOW_MS - 99_001 + i * 1_000));
      lines.splice(50, 0, event(odd));
      const { lines: sent } = await replay([
        file(lines.join('\n')),
        '--rebase',
        'now',
        '--speed',
        'max',
      ]);
      expect(sent.toSpliced(50, 1)).toEqual(shifted);
    },
  );

  it('rebases by one exact shift, so that the last request ends now, also if it is not the last in the file', async () => {
    const lines = [
      event(1_000_000_000_000),
      event('"2001-09-09T01:46:45.250123Z"'),
      event('1000000010000.75'),
      event(1_000_000_009_999, ',"note":"größe"'),
    ];
    const { lines: sent, out } = await replay([
      file(lines.join('\n')),
      '--rebase',
      'now',
      '--json',
    ]);
    expect(sent).toEqual([
      event(NOW_MS - 10_001),
      event(`"${new Date(NOW_MS - 4_751).toISOString().slice(0, -1)}123Z"`),
      event(`${NOW_MS - 1}.75`),
      event(NOW_MS - 2, ',"note":"größe"'),
    ]);
    expect(JSON.parse(out)).toMatchObject({
      events: 4,
      unchanged: 0,
      shift_ms: NOW_MS - 1_000_000_010_001,
      last_ts: NOW_MS - 1,
    });
  });

  it('publishes lines that are no events unchanged, byte for byte, and counts them', async () => {
    const odd = [Buffer.from('{"ts":'), Buffer.from([0xff, 0x7b]), Buffer.from('[{"ts":1}]')];
    const content = Buffer.concat([
      ...[Buffer.from(event(1_000)), odd[0], odd[1], Buffer.from('')].flatMap((part) => [
        part as Buffer,
        Buffer.from('\n'),
      ]),
      Buffer.from(`${event(2_000)}\r\n`),
      odd[2] as Buffer,
    ]);
    const path = file(content);
    const argv = [path, '--rebase', 'now', '--per-message', '10'];
    const { calls, err } = await replay(argv);
    const values = calls.flatMap(({ messages }) => messages.map(({ value }) => value));
    expect(values.filter((value) => Buffer.isBuffer(value))).toEqual(odd);
    expect(
      values
        .filter((value) => typeof value === 'string')
        .join('\n')
        .split('\n'),
    ).toEqual([event(NOW_MS - 1_001), event(NOW_MS - 1)]);
    expect(err).toContain('3 of them are not events with a ts and were sent unchanged.');
    expect(JSON.parse((await replay([...argv, '--json'])).out)).toMatchObject({
      events: 5,
      unchanged: 3,
      blank: 1,
    });
  });

  it('keeps the gaps between events, at the given speed', async () => {
    const path = file([1_000, 1_500, 61_000, 30_000, 121_000].map((ts) => event(ts)).join('\n'));
    const at = async (...argv: string[]) =>
      (await replay([path, ...argv])).calls.map(({ atMs, messages }) => [
        Math.round(atMs - NOW_MS),
        messages.length,
      ]);
    expect(await at('--speed', '1')).toEqual([
      [0, 1],
      [500, 1],
      // Out of order in the file; it is sent at its time.
      [29_000, 1],
      [60_000, 1],
      [120_000, 1],
    ]);
    expect(await at('--speed', '60', '--rebase', 'now')).toEqual([
      [0, 1],
      [50, 1],
      [483, 1],
      [1_000, 1],
      [2_000, 1],
    ]);
    expect(await at('--speed', 'max')).toEqual([[0, 5]]);
    expect(await at()).toEqual([[0, 5]]);
  });

  it('at a real speed sends each event when its request has ended, for any order of the file', async () => {
    const lasting = (ts: number, totalMs: number) =>
      `{"ts":${ts},"model":"a","total_ms":${totalMs}}`;
    const staged = '{"ts":2000,"model":"a","stages_ms":{"queue":1000.5,"forward":6000}}';
    const lines = [lasting(1_000, 30_000), staged, lasting(3_000, 0), lasting(9_000, 2_000)];
    const { calls } = await replay([file(lines.join('\n')), '--speed', '1']);
    const sent = calls.flatMap(({ atMs, messages }) =>
      messages.map(({ value }) => [atMs - NOW_MS, value]),
    );
    expect(sent).toEqual([
      [0, lines[2]],
      [6_000.5, lines[1]],
      [8_000, lines[3]],
      [28_000, lines[0]],
    ]);
    // As fast as possible: in the order of the file.
    expect((await replay([file(lines.join('\n'))])).lines).toEqual(lines);
  });

  it('reports how much was sent of a truncated file', async () => {
    const options = { seed: 4, startMs: NOW_MS, durationMs: 60_000, ratePerSecond: 200 };
    const text = [...generateTraffic(options)].map((event) => JSON.stringify(event)).join('\n');
    const zipped = gzipSync(text);
    const path = file(zipped.subarray(0, zipped.length - 1_000), 'ndjson.gz');
    const error = await replay([path]).catch((thrown) => thrown);
    expect(error.code).toBe('TAILMARK_FILE_UNREADABLE');
    expect(error.message).toBe(
      `Cannot read ${path} to its end: its gzip is cut short or damaged (unexpected end of file)`,
    );
    expect(error.run.err).toMatch(/\d+000 events were sent before this failed\.\n$/);
    expect(error.run.closed).toBe(1);
    const garbage = file(Buffer.of(1, 2, 0, 3), 'ndjson');
    const refused = await replay([garbage]).catch((thrown) => thrown);
    expect(refused.code).toBe('TAILMARK_FILE_UNREADABLE');
  });

  it('shows progress by the bytes of the file that were read', async () => {
    const options = { seed: 4, startMs: NOW_MS, durationMs: 60_000, ratePerSecond: 200 };
    const text = [...generateTraffic(options)].map((event) => JSON.stringify(event)).join('\n');
    const { err } = await replay([file(text), '--rebase', 'now']);
    expect(err).toMatch(/^Finding the last event \d+ %\n/);
    expect(err).toContain('Finding the last event 100 %\n');
    expect(err).toContain('Replaying 0 %  0 events\n');
    expect(err).toMatch(/Replaying 100 % {2}[\d,]+ events\nReplayed /);
  });

  it('shuts down cleanly when it is interrupted', async () => {
    const abort = new AbortController();
    const time = fakeTime(NOW_MS, ({ nowMs }) => {
      if (nowMs > NOW_MS) abort.abort('SIGTERM');
    });
    const path = file([1_000, 2_000, 99_000].map((ts) => event(ts)).join('\n'));
    const run = await replay([path, '--speed', '1', '--json'], {
      time,
      io: { signal: abort.signal },
    });
    expect(run.lines).toEqual([event(1_000), event(2_000)]);
    expect(JSON.parse(run.out)).toMatchObject({ events: 2, interrupted: true });
    expect([run.exitCode, run.closed]).toEqual([0, 1]);
  });
});
