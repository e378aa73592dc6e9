// Covers src/cli/traffic/send-traffic.ts.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import type { OperatorError } from '../../../../src/base/operator-error.ts';
import { createGenerateCommand } from '../../../../src/cli/commands/traffic/generate.ts';
import {
  type PublishedEvent,
  publishedTraffic,
} from '../../../../src/generate/publish/published-traffic.ts';
import { type FakeTime, fakeTime } from '../../../generate/fake-time.ts';
import { type CommandRunOptions, runCommand } from '../../../generate/run-command.ts';

const NOW_MS = Date.UTC(2026, 10, 2, 9);
const dir = mkdtempSync(join(tmpdir(), 'tailmark-generate-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function generate(text: string, options: Partial<CommandRunOptions> = {}) {
  const argv = text.split(' ').filter((part) => part !== '');
  return runCommand(createGenerateCommand, argv, { time: fakeTime(NOW_MS), ...options });
}

const published = (startMs: number, durationMs: number, ratePerSecond: number, seed = '1') => [
  ...publishedTraffic({ seed, startMs, durationMs, ratePerSecond }),
];
const textOf = ({ event }: PublishedEvent) => JSON.stringify(event);
const expected = (...of: Parameters<typeof published>) => published(...of).map(textOf);

const endOf = (line: string) => {
  const { ts, total_ms } = JSON.parse(line);
  return ts + total_ms;
};
const tsOf = (line: string | undefined): number => JSON.parse(line ?? '{}').ts;

describe('tailmark generate', () => {
  it.each([
    ['--rate 0', '--rate must be a number from 0.001 to 1000000: it is "0"'],
    ['--rate fast', 'it is "fast"'],
    ['--duration 10', '--duration must be a number above 0 and a unit: it is "10"'],
    ['--duration 0s', 'it is "0s"'],
    ['--speed 0', '--speed as it must be "max" or a number above 0'],
    ['--speed quick', 'it is "quick"'],
    ['--start tomorrow', '--start as it must be "now", a duration ago or an RFC 3339 time'],
    ['--per-message 0', '--per-message must be a whole number from 1 to 100000'],
    ['--per-message 1.5', 'it is "1.5"'],
    ['--publish-at once', '--publish-at must be start or end: it is "once"'],
    ['--daily 1', '--daily must be a number from 0 to 0.9'],
    ['--models ranker,rankr', '--models must name models of the fleet (ranker, embedder, llm)'],
    ['--fault queue,facter=2', '--fault as key of queue must be one of'],
    ['--models llm --fault queue,model=ranker', 'model must be one of llm: it is "ranker"'],
    ['--catch-up --speed max', '--catch-up must go with --speed 1'],
  ])('refuses %s before it connects', async (text, message) => {
    const error = await generate(text).then(
      () => undefined,
      (thrown: OperatorError & { run: { opened: number } }) => thrown,
    );
    expect(error?.message).toContain(message);
    expect(error?.code).toBe('TAILMARK_USAGE');
    expect(error?.exitCode).toBe(64);
    expect(error?.run.opened).toBe(0);
  });

  it('publishes the events of its seed to the configured topic, keyed by source', async () => {
    const run = await generate('--speed max --duration 20s --rate 100 --seed abc');
    expect(run.lines).toEqual(expected(NOW_MS - 20_000, 20_000, 100, 'abc'));
    expect(new Set(run.calls.map(({ topic }) => topic))).toEqual(new Set(['inference.timings.v1']));
    for (const { key, value } of run.calls.flatMap(({ messages }) => messages)) {
      const { model, host } = JSON.parse(String(value));
      expect(key).toBe(`${model}|${host}`);
    }
    expect([run.exitCode, run.opened, run.closed]).toEqual([0, 1, 1]);
  });

  it('accepts another topic', async () => {
    const run = await generate('--speed max --duration 1s --topic other');
    expect(run.calls[0]?.topic).toBe('other');
  });

  it('at speed 1 starts now and publishes each event when its request has ended, at once with --publish-at start', async () => {
    const run = await generate('--duration 30s --rate 20 --fault timeouts,after=10s');
    const ended = await generate('--duration 30s --rate 20');
    expect(ended.lines).toEqual(expected(NOW_MS, 30_000, 20));
    const started = await generate('--duration 30s --rate 20 --publish-at start');
    // Requests that have not ended by the end of the traffic are not published.
    const unended = started.lines.filter((line) => !ended.lines.includes(line));
    expect(unended.length).toBeGreaterThan(0);
    for (const line of unended) expect(endOf(line)).toBeGreaterThan(NOW_MS + 30_000 - 1_000);
    expect(run.lines.some((line) => JSON.parse(line).total_ms === 10_000)).toBe(true);
    for (const [{ calls }, timeOf] of [
      [run, endOf],
      [ended, endOf],
      [started, tsOf],
    ] as const) {
      expect(calls.length).toBeGreaterThan(100);
      for (const { atMs, messages } of calls) {
        for (const { value } of messages) {
          expect(atMs).toBeGreaterThanOrEqual(timeOf(String(value)));
          expect(atMs).toBeLessThanOrEqual(timeOf(String(value)) + (timeOf === tsOf ? 50 : 2_000));
        }
      }
    }
  });

  it('at speed 60 plays an hour that ends now in a minute', async () => {
    const time = fakeTime(NOW_MS);
    const run = await generate('--speed 60 --duration 1h --rate 1', { time });
    expect(tsOf(run.lines[0])).toBeGreaterThanOrEqual(NOW_MS - 3_600_000);
    expect(tsOf(run.lines[0])).toBeLessThan(NOW_MS - 3_500_000);
    expect(time.nowMs - NOW_MS).toBeGreaterThan(58_000);
    expect(time.nowMs - NOW_MS).toBeLessThanOrEqual(60_050);
  });

  it('catches up with the past at once, then continues in real time', async () => {
    const run = await generate('--start -10m --duration 11m --rate 20 --catch-up');
    const atOnce = run.calls.filter(({ atMs }) => atMs === NOW_MS).flatMap((c) => c.messages);
    expect(endOf(String(atOnce.at(-1)?.value))).toBeGreaterThan(NOW_MS - 2_000);
    for (const { atMs, messages } of run.calls.filter((call) => call.atMs > NOW_MS)) {
      for (const { value } of messages) {
        expect(atMs - endOf(String(value))).toBeGreaterThanOrEqual(0);
        expect(atMs - endOf(String(value))).toBeLessThanOrEqual(2_000);
      }
    }
    expect(run.lines).toEqual(expected(NOW_MS - 600_000, 660_000, 20));
  });

  it('starts at a given time and injects its faults', async () => {
    const start = '2026-11-01T08:00:00Z';
    const text = `--speed max --start ${start} --duration 1m --rate 50 --models ranker`;
    const plain = await generate(text);
    const faulty = await generate(
      `${text} --fault slow_stage,stage=features,factor=3,from=30s --fault errors,share=1,for=10s`,
    );
    expect(tsOf(plain.lines[0]) - Date.parse(start)).toBeLessThan(1_000);
    const byId = new Map(plain.lines.map((line) => [JSON.parse(line).id, JSON.parse(line)]));
    const after = faulty.lines.map((line) => JSON.parse(line));
    expect(after.length).toBeGreaterThan(byId.size * 0.98);
    for (const event of after) {
      const before = byId.get(event.id);
      // Published in time where its stage was not slow, or the other way round.
      if (before === undefined) continue;
      const atMs = event.ts - Date.parse(start);
      if (atMs < 10_000 && event.status !== 'timeout') expect(event.status).toBe('error');
      const ratio = event.stages_ms.features / before.stages_ms.features;
      expect(ratio).toBeCloseTo(atMs >= 30_000 ? 3 : 1, 2);
    }
    expect(new Set(after.map(({ model }) => model))).toEqual(new Set(['ranker']));
  });

  it('packs events into messages without losing one', async () => {
    const run = await generate('--speed max --duration 30s --rate 500 --per-message 20');
    expect([...run.lines].sort()).toEqual(expected(NOW_MS - 30_000, 30_000, 500).sort());
    const messages = run.calls.flatMap((call) => call.messages);
    expect(messages.length).toBeLessThan(run.lines.length / 4);
  });

  it('sums up in a sentence, or as JSON', async () => {
    const run = await generate('--duration 10s --rate 20');
    const count = run.lines.length;
    expect(run.out).toBe('');
    expect(run.err).toContain(
      `Generated ${count} events in ${count} messages to topic inference.timings.v1 (`,
    );
    expect(run.err).toMatch(/^Generating 0 % {2}0 events\n/);
    expect(run.err).toContain('Generating 100 %');
    const json = await generate('--duration 10s --rate 20 --json');
    const summary = JSON.parse(json.out);
    expect(summary).toMatchObject({
      ok: true,
      events: count,
      messages: count,
      bytes: json.lines.join('').length,
      last_ts: published(NOW_MS, 10_000, 20).at(-1)?.dueMs,
      target: 'topic inference.timings.v1',
      interrupted: false,
      seed: '1',
      start_ts: NOW_MS,
    });
    expect(summary.elapsed_ms).toBeGreaterThan(9_000);
    expect(summary.events_per_second).toBeGreaterThan(10);
  });

  it('writes to standard output or to a file, plain or gzipped, and needs no Kafka', async () => {
    const text = '--speed max --duration 5s --rate 100';
    const wanted = `${expected(NOW_MS - 5_000, 5_000, 100).join('\n')}\n`;
    const stdout = await generate(`${text} --to stdout --json`);
    expect(stdout.out).toBe(wanted);
    expect(stdout.err).toContain('"target":"standard output"');
    const [plain, zipped] = [join(dir, 'a.ndjson'), join(dir, 'a.ndjson.gz')];
    const runs = [
      await generate(`${text} --to ${plain}`),
      await generate(`${text} --to ${zipped}`),
    ];
    expect(readFileSync(plain, 'utf8')).toBe(wanted);
    expect(gunzipSync(readFileSync(zipped)).toString()).toBe(wanted);
    expect([stdout, ...runs].map(({ opened }) => opened)).toEqual([0, 0, 0]);
  });

  it.each(['ndjson', 'ndjson.gz'])('names the file that it cannot write (%s)', async (end) => {
    const path = join(dir, 'missing', `a.${end}`);
    const error = await generate(`--speed max --duration 5s --to ${path}`).catch((e) => e);
    expect(error.code).toBe('TAILMARK_PATH_UNWRITABLE');
    expect(error.exitCode).toBe(69);
    expect(error.message).toContain(`Cannot write ${path}: `);
    expect(existsSync(path)).toBe(false);
  });

  it('shuts down cleanly when it is interrupted, and reports how much was sent', async () => {
    const abort = new AbortController();
    const onSleep = ({ nowMs }: FakeTime) => {
      if (nowMs >= NOW_MS + 5_000) abort.abort('SIGTERM');
    };
    const time = fakeTime(NOW_MS, onSleep);
    const run = await generate('--forever --rate 50 --per-message 5', {
      time,
      io: { signal: abort.signal },
    });
    expect(run.exitCode).toBe(0);
    expect(run.closed).toBe(1);
    expect(run.err).toContain(`Generated ${run.lines.length} events in `);
    expect(run.err).toContain('Interrupted: this is what was sent before.');
    const due = published(NOW_MS, 10_000, 50)
      .filter(({ dueMs }) => dueMs <= time.nowMs)
      .map(textOf);
    expect(time.nowMs).toBeLessThan(NOW_MS + 5_500);
    expect([...run.lines].sort()).toEqual(due.sort());
  });

  it('reports what was sent before Kafka failed, and closes the publisher', async () => {
    const onPublish = (count: number) => {
      if (count === 3) throw new Error('no leader');
    };
    const failing = generate('--speed max --duration 60s --rate 100', { onPublish });
    const error = await failing.catch((thrown) => thrown);
    expect(error.message).toBe('no leader');
    expect(error.run.err).toContain('2000 events were sent before this failed.\n');
    expect(error.run.closed).toBe(1);
  });

  it.each([
    ['--start now --speed max --duration 10m', true],
    ['--start now --speed 10 --duration 10m', true],
    ['--start now --speed max --duration 4m', false],
    ['--speed max --duration 10m', false],
    ['--start 2030-01-01T00:00:00Z --duration 1s --speed max', true],
  ])('warns of events from the future: %s: %s', async (text, warns) => {
    const { err } = await generate(`${text} --rate 0.1`);
    expect(err.includes('ahead of the clock by more than 5 minutes')).toBe(warns);
  });
});
