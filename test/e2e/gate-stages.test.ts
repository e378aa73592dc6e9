import { expect, it } from 'vitest';
import { minuteMs } from '../../src/base/time.ts';
import { Random } from '../../src/generate/random.ts';
import { useStack } from '../containers/stack.ts';
import { packed } from './kit/packed.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const minutes = 25;
const requestsPerMinute = 240;
const thresholds = { first_token: 900, total: 8_000 };
const slos = [{ name: 'chat', objective: 0.99, all: { first_token: '900ms', total: '8s' } }];
const settings = { DETECT_SLOS: JSON.stringify(slos) };

/** Goodput of the events of a version, counted one by one. */
function goodputOf(sent: readonly Event[], version: string) {
  const of = sent.filter((event) => event.version === version);
  const missed = of.filter(
    ({ stages_ms: { prefill, decode } }) =>
      prefill > thresholds.first_token || prefill + decode > thresholds.total,
  ).length;
  return { requests: of.length, missed, goodput: (of.length - missed) / of.length };
}

type Event = ReturnType<typeof events> extends Generator<infer One> ? One : never;

/** Requests to a language model: whole requests are the same, whatever the first token takes. */
function* events(startMs: number, version: string, firstTokenFactor: number, totalFactor = 1) {
  const random = new Random(`gate ${version}`);
  for (let n = 0; n < minutes * requestsPerMinute; n++) {
    const firstToken = random.lognormal(200, 0.3) * firstTokenFactor;
    const decode = Math.max(500, random.lognormal(4_000, 0.3) * totalFactor - firstToken);
    const endMs = startMs + Math.floor(((n + 0.5) * minuteMs) / requestsPerMinute);
    yield {
      ts: Math.floor(endMs - firstToken - decode),
      ...{ model: 'chat', version, output_tokens: 100 },
      stages_ms: { prefill: firstToken, decode },
      milestones_ms: { first_token: firstToken },
    };
  }
}

it('the gate stays shut for a slow first token in requests that are as fast as before, and says so', () =>
  withRig({ stack, name: 'gate-stages', settings }, async (rig) => {
    const startMs = Math.floor(Date.now() / minuteMs - minutes - 5) * minuteMs;
    const sent = [
      ...events(startMs, 'v1', 1),
      ...events(startMs, 'same', 1),
      ...events(startMs, 'slow', 1.5),
      // Within the margin of durations, and beyond that of goodput.
      ...events(startMs, 'misses', 1, 1.2),
    ].toSorted((a, b) => a.ts - b.ts);
    const last = { ts: startMs + (minutes + 1) * minuteMs, model: 'x', stages_ms: { forward: 1 } };
    await rig.publish(packed([...sent, last]));
    const pipeline = await rig.start(['ingest']);
    await rig.untilConsumed(sent.length + 1);
    await pipeline.stop();

    const { url } = await rig.start(['serve']);
    const ask = async (path: string, version: string, stages?: string) => {
      const query = new URLSearchParams({ model: 'chat', version, baseline: 'v1' });
      if (stages !== undefined) query.set('stages', stages);
      const method = path === 'verdict' ? 'GET' : 'POST';
      const response = await fetch(`${url}/v1/${path}?${query}`, { method });
      return { status: response.status, text: await response.text() };
    };
    const named =
      /TTFT \(first_token\) p99 is 1\.\d+ times that of version v1 \(\d+ ms against \d+ ms; interval 1\.\d\d to \d\.\d\d\); p99 of whole requests is (0\.9\d|1|1\.0\d) times/;

    const promote = await ask('gate/promote', 'slow');
    expect([promote.status, promote.text]).toEqual([409, expect.stringMatching(named)]);
    expect(promote.text).toMatch(/^fail: /);
    expect((await ask('gate/rollback', 'slow')).status).toBe(200);
    const verdict = await ask('verdict', 'slow');
    expect(JSON.parse(verdict.text)).toMatchObject({
      ...{ verdict: 'fail', failed_stage: 'first_token', minutes },
      tested_stages: ['total', 'first_token', 'time_per_output_token'],
      tested_objectives: ['chat'],
      reason: expect.stringMatching(named),
      goodput: [
        {
          name: 'chat',
          objective: 0.99,
          thresholds: [
            { stage: 'first_token', ms: 900 },
            { stage: 'total', ms: 8_000 },
          ],
          a: goodputOf(sent, 'v1'),
          b: goodputOf(sent, 'slow'),
        },
      ],
    });

    const missing =
      /goodput is 9[56](\.\d)? %, against 9[89](\.\d)? % of version v1: [45](\.\d)? % of requests missed one of first_token 900 ms, total 8,000 ms, or failed \(objective chat\)/;
    const ofGoodput = await ask('verdict', 'misses');
    expect(JSON.parse(ofGoodput.text)).toMatchObject({
      ...{ verdict: 'fail', failed_by: 'goodput', failed_stage: null, failed_objective: 'chat' },
      reason: expect.stringMatching(missing),
    });
    expect((await ask('gate/rollback', 'misses')).status).toBe(200);
    const withoutGoodput = 'total,first_token,time_per_output_token';
    expect((await ask('gate/rollback', 'misses', withoutGoodput)).status).toBe(409);
    expect((await ask('gate/rollback', 'misses', 'total,goodput')).status).toBe(200);

    // Whole requests alone are fine, as they were before milestones decided.
    expect((await ask('gate/promote', 'slow', 'total')).status).toBe(200);
    expect((await ask('gate/rollback', 'slow', 'total')).status).toBe(409);
    expect((await ask('gate/rollback', 'slow', 'total,prefill')).status).toBe(200);
    const wide = await ask('gate/promote', 'same');
    expect([wide.status, wide.text]).toEqual([
      ...[409, expect.stringMatching(/^inconclusive: .*; least is known of goodput$/m)],
    ]);
    const same = await ask('gate/promote', 'same', withoutGoodput);
    expect([same.status, same.text]).toEqual([200, expect.stringMatching(/^pass: p99 is /)]);

    const unknown = await ask('verdict', 'slow', 'total,frist_token');
    expect([unknown.status, JSON.parse(unknown.text).detail]).toEqual([
      400,
      'Cannot compare as stages must be stages of the compared requests: none has "frist_token". Known: first_token, decode, prefill, time_per_output_token, total.',
    ]);

    const compare = (...more: readonly string[]) =>
      rig.cli([
        ...['compare', '--model', 'chat', '--a', 'v1', '--b', 'slow'],
        ...['--since', new Date(startMs).toISOString(), ...more],
      ]);
    const missed = await compare('--b', 'misses', '--json');
    expect([missed.exitCode, JSON.parse(missed.out)]).toEqual([
      2,
      expect.objectContaining({ failed_by: 'goodput', reason: expect.stringMatching(missing) }),
    ]);
    const byDefault = await compare();
    expect([byDefault.exitCode, byDefault.out]).toEqual([2, expect.stringMatching(named)]);
    expect((await compare('--stages', 'total', '--require-pass')).exitCode).toBe(0);
    const mistyped = await compare('--stages', 'total,');
    expect([mistyped.exitCode, mistyped.err]).toEqual([
      64,
      'error: Cannot compare as --stages must name stages with commas between: it is "total,"\n',
    ]);

    const sides = { 'a.version': 'v1', 'b.version': 'slow', from: new Date(startMs).toISOString() };
    const page = async (more: Readonly<Record<string, string>> = {}) => {
      const query = new URLSearchParams({ model: 'chat', ...sides, ...more });
      const response = await fetch(`${url}/v1/compare?${query}`);
      return (await response.json()) as { readonly verdict: string; readonly title: string };
    };
    expect((await page()).title).toMatch(
      /^TTFT \(first_token\) of B is worse at p50 \(.*\), p95 \(.*\), p99 \(.*\); .*: fail$/,
    );
    expect((await page({ stages: 'total' })).verdict).toBe('pass');
  }));
