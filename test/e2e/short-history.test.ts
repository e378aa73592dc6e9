import { expect, it } from 'vitest';
import { minuteMs, secondMs } from '../../src/base/time.ts';
import type { AnomalyEvent } from '../../src/contract/anomaly-event.ts';
import { Random } from '../../src/generate/random.ts';
import { AnomalyStore } from '../../src/sink/anomalies/anomaly-store.ts';
import { useStack } from '../containers/stack.ts';
import { poll } from './kit/poll.ts';
import { Rig } from './kit/rig.ts';

const stack = useStack();
const windowMs = 10 * secondMs;
/** What was judged before the upgrade, and what comes after it: a minute of normal traffic, then a rise. */
const past = 120 * minuteMs;
const riseMs = past + minuteMs;
const endMs = riseMs + 4 * minuteMs;
/** By then three minutes of the rise are judged. */
const judgedMs = riseMs + 3 * minuteMs;
const perSecond = 5;
/** Stages of a window of which the newest 46 minutes are read, some more or less. */
const stages = 10_900;

/** One series whose requests take three times as long, or ten times, from the rise on. */
function* messagesOf(startMs: number, factor: number) {
  const random = new Random('short history');
  const events: string[] = [];
  for (let n = 0; n < (endMs / secondMs) * perSecond; n++) {
    const atMs = (n * secondMs) / perSecond;
    const slower = atMs >= riseMs ? factor : 1;
    const stages_ms = {
      queue: random.lognormal(5, 0.3) * slower,
      forward: random.lognormal(50, 0.3) * slower,
    };
    events.push(JSON.stringify({ ts: Math.round(startMs + atMs), model: 'ranker', stages_ms }));
  }
  for (let from = 0; from < events.length; from += 100) {
    yield { value: events.slice(from, from + 100).join('\n') };
  }
}

/** Many stages in the windows by which the size of the history is estimated. */
async function fill({ client }: Rig, judgedUntilMs: number): Promise<void> {
  const state = `quantilesTDigest${'State'}(0.5, 0.9, 0.95, 0.99, 0.999)`;
  for (let sample = 0; sample < 5; sample++) {
    const seconds = (judgedUntilMs - (60 * sample + 30) * windowMs) / 1000;
    await client.command({
      query: `INSERT INTO latency_10s
          (window_start, model, stage, requests, sum_ms, min_ms, max_ms, latency)
        SELECT toDateTime(${seconds}, 'UTC'), 'large', concat('s', toString(number)), 1, 1, 1, 1,
            ${state}(toFloat32(1))
        FROM numbers(${stages}) GROUP BY number`,
    });
  }
}

async function pagesOf(factor: number) {
  // Windows that come from no chunk: `verify` has nothing to check.
  const rig = await Rig.open({ stack, name: 'short', settings: { DETECT_INTERVAL: '200ms' } });
  try {
    const startMs = Math.floor((Date.now() - endMs - minuteMs) / minuteMs) * minuteMs;
    const pipeline = await rig.start(['ingest']);
    await rig.publish(messagesOf(startMs, factor));
    await rig.untilConsumed((endMs / secondMs) * perSecond);
    await pipeline.stop();
    await fill(rig, startMs + past);
    const store = new AnomalyStore(rig.client);
    const group = rig.config.kafka.group_id;
    await store.setEvaluatedUntilMs(group, startMs + past);
    const detector = rig.spawn(['run', '--roles', 'ingest,detect,serve']);
    await detector.logged('health and metrics at');
    const [, url = ''] = /health and metrics at (http:[^"\s]+)/.exec(detector.err()) ?? [];
    const isJudged = async () => ((await store.evaluatedUntilMs(group)) ?? 0) >= startMs + judgedMs;
    const patient = { deadlineMs: 120_000 };
    await poll('the rise is judged', async () => ((await isJudged()) ? true : undefined), patient);
    const [opened] = await store.open();
    expect(opened).toBeDefined();
    const [ready, metrics] = await Promise.all(
      ['/readyz', '/metrics'].map(async (path) => (await fetch(`${url}${path}`)).text()),
    );
    const { out } = await rig.cli(['explain', opened?.id ?? '']);
    detector.signal('SIGTERM');
    await detector.exited;
    const events = await rig.rows<{ body: string }>(
      'SELECT body FROM anomalies FINAL ORDER BY revision',
    );
    const all = events.map(({ body }) => JSON.parse(body) as AnomalyEvent);
    return { startMs, all, ready, metrics, out };
  } finally {
    await rig.stopAll();
    await rig.close();
  }
}

it.each([
  [3, 'warning'],
  [10, 'critical'],
])(
  'requests that take %i times as long after an upgrade are a %s where the history is short, and it says so',
  async (factor, severity) => {
    const { startMs, all, ready, metrics, out } = await pagesOf(factor);
    expect(all.at(-1)?.severity).toBe(severity);
    const [opened] = all;
    const from = opened?.evidence.history_from ?? '';
    const knownMs = startMs + past - Date.parse(from);
    expect([knownMs > 45 * minuteMs, knownMs <= 46 * minuteMs]).toEqual([true, true]);
    const known = `since ${from.slice(0, 10)} ${from.slice(11, 16)} UTC only: the history before was not read`;
    expect(opened?.summary).toContain(known);
    expect(out.split(known).length).toBeGreaterThan(2);
    expect(ready).toContain(known);
    expect(metrics).toContain(
      `\ntailmark_detector_history_timestamp_seconds ${Date.parse(from) / 1000}\n`,
    );
  },
  300_000,
);
