import { describe, expect, it } from 'vitest';
import { minuteMs, secondMs } from '../../src/base/time.ts';
import { type AnomalyEvent, anomalyEventSchema } from '../../src/contract/anomaly-event.ts';
import { Random } from '../../src/generate/random.ts';
import type { TopicMessage } from '../../src/kafka/follow-topic.ts';
import { useStack } from '../containers/stack.ts';
import { poll } from './kit/poll.ts';
import type { Rig } from './kit/rig.ts';
import type { Child } from './kit/start-child.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
/** In event time, from the start: the slow times; the snapshot, and the end of the leader. */
const plot = {
  slow: [
    [12 * minuteMs, 15 * minuteMs],
    [21 * minuteMs, 23 * minuteMs],
  ],
  savedMs: 11.5 * minuteMs,
  breakMs: 13 * minuteMs,
  endMs: 26 * minuteMs,
} as const;
const perSecond = 9;
const patient = { deadlineMs: 120_000 };
const detecting = 'leadership acquired; this process detects';
const settings = {
  DETECT_INTERVAL: '200ms',
  DETECT_SESSION_TIMEOUT: '3s',
  DETECT_SAVE_INTERVAL: '2m',
  DETECT_BASELINE: '10m',
  // The traffic ends three minutes after the last slow time.
  DETECT_RESOLVE_WINDOWS: '3',
};

/** One series whose forward is five times as slow at times. */
function eventsOf(startMs: number): string[] {
  const random = new Random('takeover');
  return Array.from({ length: (plot.endMs / secondMs) * perSecond }, (_, n) => {
    const atMs = (n * secondMs) / perSecond;
    const isSlow = plot.slow.some(([fromMs, toMs]) => atMs >= fromMs && atMs < toMs);
    const forward = random.lognormal(50, 0.3) * (isSlow ? 5 : 1);
    const stages_ms = { queue: random.lognormal(5, 0.3), forward };
    return JSON.stringify({ ts: Math.round(startMs + atMs), model: 'ranker', stages_ms });
  });
}

/** Messages of 30 events each. */
function* messagesOf(events: readonly string[]) {
  for (let from = 0; from < events.length; from += 30) {
    yield { value: events.slice(from, from + 30).join('\n') };
  }
}

async function stored(rig: Rig): Promise<AnomalyEvent[]> {
  const rows = await rig.rows<{ body: string }>(
    'SELECT body FROM anomalies FINAL ORDER BY window_start, id, revision',
  );
  return rows.map(({ body }) => anomalyEventSchema.parse(JSON.parse(body)));
}

/** Fields that do not depend on the process and the time of emitting. */
const outline = (event: AnomalyEvent) => {
  const { id, state, revision, resolution, started_at, ratio, requests, evidence } = event;
  return { id, state, revision, resolution, started_at, ratio, requests, evidence };
};

const nameOf = ({ id, revision }: AnomalyEvent) => `${id}-${revision}`;

async function healthOf(child: Child): Promise<{ ready: string; metrics: string }> {
  const [, url = ''] = /health and metrics at (http:[^"\s]+)/.exec(child.err()) ?? [];
  const [ready, metrics] = await Promise.all(
    ['/readyz', '/metrics'].map(async (path) => (await fetch(`${url}${path}`)).text()),
  );
  return { ready: ready ?? '', metrics: metrics ?? '' };
}

/** Stops the leader at its first anomaly; returns all anomalies, and the two processes. */
async function takenOut(rig: Rig, signal: NodeJS.Signals) {
  const startMs = Math.floor((Date.now() - plot.endMs - minuteMs) / 60_000) * 60_000;
  const events = eventsOf(startMs);
  const [saved, before] = [plot.savedMs, plot.breakMs].map((ms) => (ms / secondMs) * perSecond);
  await rig.start(['ingest']);
  const messages: TopicMessage[] = [];
  const leader = rig.spawn(['run', '--roles', 'detect,serve']);
  await leader.logged(detecting);
  const standby = rig.spawn(['run', '--roles', 'detect,serve']);
  await standby.logged('health and metrics at');
  await rig.follow(rig.config.alert.topic, (message) => messages.push(message));
  await rig.publish(messagesOf(events.slice(0, saved)));
  const snapshots = () => rig.rows('SELECT * FROM detector_snapshots');
  await poll('a snapshot is saved', async () => (await snapshots())[0], patient);
  // Later windows are in no snapshot: the successor judges them again.
  await rig.publish(messagesOf(events.slice(saved, before)));
  await poll('the anomaly is opened', async () => (await stored(rig))[0], patient);
  const [led, stood] = [await healthOf(leader), await healthOf(standby)];
  expect([led.ready, stood.ready]).toEqual(['ready\n', 'ready\n']);
  expect(led.metrics).toContain('\ntailmark_detector_leader 1\n');
  expect(stood.metrics).toContain('\ntailmark_detector_leader 0\n');
  expect(standby.err()).not.toContain(detecting);
  leader.signal(signal);
  await rig.publish(messagesOf(events.slice(before)));
  await standby.logged('detector ready');
  expect(standby.err()).toMatch(/"state_as_of":"2/);
  const resolved = async () => {
    const emitted = await stored(rig);
    return emitted.filter(({ state }) => state === 'resolved').length === plot.slow.length;
  };
  await poll('all is resolved', async () => ((await resolved()) ? true : undefined), patient);
  return { leader, standby, messages, startMs };
}

/** All emitted events equal those of one uninterrupted detector, and are stored once. */
async function expectAsUninterrupted(rig: Rig, startMs: number, messages: readonly TopicMessage[]) {
  const emitted = await stored(rig);
  const range = ['--from', new Date(startMs).toISOString()];
  const { out } = await rig.cli([
    'backtest',
    ...range,
    '--to',
    new Date(startMs + plot.endMs).toISOString(),
    '--json',
  ]);
  const uninterrupted = out
    .trim()
    .split('\n')
    .map((line) => anomalyEventSchema.parse(JSON.parse(line)));
  const last = new Map(emitted.map((event) => [event.id, event]));
  expect([...last.values()].map(outline)).toEqual(uninterrupted.map(outline));
  for (const { id, revision } of last.values()) {
    const revisions = emitted.filter((event) => event.id === id).map((event) => event.revision);
    expect(revisions).toEqual(Array.from({ length: revision }, (_, n) => n + 1));
  }
  const onTopic = () => new Set(messages.map(({ headers }) => String(headers.ce_id)));
  await poll('all is on the topic', () => (onTopic().size >= emitted.length ? true : undefined));
  expect([...onTopic()].sort()).toEqual(emitted.map(nameOf).sort());
  // Repeated events are the same.
  for (const event of emitted) {
    const same = messages.filter(({ headers }) => headers.ce_id === nameOf(event));
    for (const { value } of same) expect(JSON.parse(String(value))).toEqual(event);
  }
}

describe('a detector that stands by', () => {
  it(
    'takes over from a killed one, and emits the events of an uninterrupted one',
    () =>
      withRig({ stack, name: 'killed', settings }, async (rig) => {
        const { leader, messages, startMs } = await takenOut(rig, 'SIGKILL');
        expect(await leader.exited).toBe('SIGKILL');
        await expectAsUninterrupted(rig, startMs, messages);
      }),
    300_000,
  );

  it(
    'takes over from a stopped one, which stands by when it resumes',
    () =>
      withRig({ stack, name: 'stopped', settings }, async (rig) => {
        const { leader, standby, messages, startMs } = await takenOut(rig, 'SIGSTOP');
        const rows = await stored(rig);
        leader.signal('SIGCONT');
        await leader.logged('leadership lost; this process stands by');
        const { metrics } = await healthOf(leader);
        expect(metrics).toContain('\ntailmark_detector_leader 0\n');
        expect((await healthOf(standby)).metrics).toContain('\ntailmark_detector_leader 1\n');
        expect(await stored(rig)).toEqual(rows);
        await expectAsUninterrupted(rig, startMs, messages);
        // It leaves, and the other one takes the lead back.
        standby.signal('SIGTERM');
        expect(await standby.exited).toBe(0);
        await leader.logged(detecting, 2);
      }),
    300_000,
  );
});
