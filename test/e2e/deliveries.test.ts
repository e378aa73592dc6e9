import { expect, it } from 'vitest';
import type { AnomalyEvent } from '../../src/contract/anomaly-event.ts';
import { AnomalyStore } from '../../src/sink/anomalies/anomaly-store.ts';
import { type DeliveryRow, DeliveryStore } from '../../src/sink/anomalies/delivery-store.ts';
import { type Mute, MuteStore } from '../../src/sink/anomalies/mute-store.ts';
import { useStack } from '../containers/stack.ts';
import { anomalyFixture } from '../contract/anomaly-fixture.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const resolvedAt = '2026-11-01T12:20:00.000Z';

const rowOf = (changed: Partial<DeliveryRow>): DeliveryRow => ({
  receiver: 'pager',
  id: 'open',
  revision: 1,
  attempt: 1,
  outcome: 'accepted',
  form: 'full',
  state: 'opened',
  severity: 'warning',
  answer: '202 Accepted',
  memory: '',
  mayHaveArrived: true,
  atMs: Date.UTC(2026, 10, 1, 12, 1),
  ...changed,
});

it('gives an outbox what may be due, and what of it was settled', () =>
  withRig({ stack, name: 'outbox' }, async ({ client }) => {
    const anomalies = new AnomalyStore(client);
    const store = new DeliveryStore(client);
    const events: Partial<AnomalyEvent>[] = [
      { id: 'open', revision: 1, severity: 'warning' },
      { id: 'open', revision: 2, state: 'updated' },
      { id: 'over', revision: 1 },
      { id: 'over', revision: 2, state: 'resolved', resolved_at: resolvedAt },
      // A series of an anomaly of several is no anomaly of its own.
      { id: 'member', revision: 1, incident_id: 'open' },
    ];
    for (const event of events) await anomalies.add(anomalyFixture(event));
    const first = await store.load(['pager', 'chat'], 0);
    const names = ({ event }: { event: AnomalyEvent }) => `${event.id}/${event.revision}`;
    expect(first.events.map(names)).toEqual(['open/1', 'open/2', 'over/1', 'over/2']);
    expect(first.settled).toEqual([]);
    const [{ writtenMs = 0 } = {}] = first.events;
    expect(first.sinceMs.get('pager')).toBeGreaterThanOrEqual(writtenMs);

    await store.add([
      rowOf({ outcome: 'begun', answer: '' }),
      rowOf({ outcome: 'failed', mayHaveArrived: false }),
      rowOf({ attempt: 2, memory: '{"ts":"1"}' }),
      rowOf({ revision: 2, outcome: 'refused', severity: 'critical', state: 'updated' }),
      rowOf({ receiver: 'chat', id: 'over', revision: 2, outcome: 'skipped', state: 'resolved' }),
      rowOf({ receiver: 'gone', id: 'over' }),
      // As of one instant: an attempt follows its beginning, and the attempt before.
      rowOf({ receiver: 'away', outcome: 'begun' }),
      rowOf({ receiver: 'away', outcome: 'failed', mayHaveArrived: false }),
      rowOf({ receiver: 'killed', outcome: 'failed', mayHaveArrived: false }),
      rowOf({ receiver: 'killed', attempt: 2, outcome: 'begun' }),
    ]);
    const second = await store.load(['pager', 'chat', 'new'], 0);
    expect(second.settled).toEqual([
      {
        ...{ receiver: 'chat', id: 'over', settledRevision: 2 },
        ...{ mayHaveArrived: true, accepted: undefined },
      },
      {
        receiver: 'pager',
        id: 'open',
        settledRevision: 2,
        mayHaveArrived: true,
        accepted: {
          state: 'opened',
          severity: 'warning',
          memory: '{"ts":"1"}',
          atMs: expect.any(Number),
        },
      },
    ]);
    const { settled } = await store.load(['away', 'killed'], 0);
    expect(settled.toSorted((a, b) => (a.receiver < b.receiver ? -1 : 1))).toMatchObject([
      { receiver: 'away', settledRevision: 0, mayHaveArrived: false, accepted: undefined },
      { receiver: 'killed', settledRevision: 0, mayHaveArrived: true, accepted: undefined },
    ]);
    // A receiver keeps its time; a new one begins now.
    expect(second.sinceMs.get('pager')).toBe(first.sinceMs.get('pager'));
    expect(second.sinceMs.get('new')).toBeGreaterThan(first.sinceMs.get('pager') ?? 0);
    // What was over before a time is left out, what is open is not.
    const later = await store.load(['pager'], Date.now() + 60_000);
    expect(later.events.map(names)).toEqual(['open/1', 'open/2']);

    expect(await store.statusOf(['open'])).toMatchObject([
      { receiver: 'away', revision: 1, outcome: 'failed', attempts: 1 },
      { receiver: 'killed', revision: 1, outcome: 'failed', attempts: 1 },
      { receiver: 'pager', revision: 1, outcome: 'accepted', attempts: 2, answer: '202 Accepted' },
      { receiver: 'pager', revision: 2, outcome: 'refused', attempts: 0 },
    ]);
    expect(await store.statusOf([])).toEqual([]);
  }));

it('keeps mutes, and the last word on each', () =>
  withRig({ stack, name: 'mutes' }, async ({ client }) => {
    const store = new MuteStore(client);
    const nowMs = Date.now();
    const mute: Mute = {
      id: 'm1',
      fromMs: nowMs,
      untilMs: nowMs + 3_600_000,
      models: ['rank*'],
      kinds: ['drift'],
      dimensions: { region: "eu'-*" },
      why: 'load test; DROP TABLE mutes',
      who: 'ann',
    };
    await store.put(mute);
    await store.put({ ...mute, id: 'm0', untilMs: nowMs + 60_000, kinds: [] });
    expect((await store.endingAfter(nowMs)).map(({ id }) => id)).toEqual(['m0', 'm1']);
    expect((await store.endingAfter(nowMs))[1]).toEqual(mute);
    await store.put({ ...mute, untilMs: nowMs + 1 });
    expect((await store.endingAfter(nowMs + 1)).map(({ id }) => id)).toEqual(['m0']);
  }));

it('keeps who added a mute and who ended it, for the page and the command too', () =>
  withRig({ stack, name: 'mute-history' }, async (rig) => {
    const { client } = rig;
    const store = new MuteStore(client);
    const nowMs = Date.now();
    const mute: Mute = {
      ...{ id: 'm1', fromMs: nowMs - 60_000, untilMs: nowMs + 3_600_000, models: ['ranker'] },
      ...{ kinds: [], dimensions: {}, why: 'load test', who: 'ann', onBehalfOf: 'the drill' },
      ...{ addedMs: nowMs - 60_000, plannedUntilMs: nowMs + 3_600_000 },
    };
    await store.put(mute);
    const end = { untilMs: nowMs, endedMs: nowMs, endedBy: 'bob' };
    expect(await store.end('m1', 'bob', nowMs)).toEqual({ ...mute, ...end });
    expect(await store.end('m1', 'eve', nowMs)).toBe(undefined);
    // As earlier versions have written them.
    await client.command({
      query: `INSERT INTO mutes (id, from_time, until_time, models, why, who)
              VALUES ('old', now() - 120, now() - 60, ['*'], 'before', 'cas')`,
    });
    expect(await store.endingAfter(nowMs - 3_600_000)).toMatchObject([
      { id: 'old', who: 'cas' },
      { ...mute, ...end },
    ]);
    expect(await store.endingAfter(nowMs)).toEqual([]);

    const { url } = await rig.start(['serve']);
    const response = await fetch(`${url}/v1/mute-history?from=-1h`);
    const { rows } = (await response.json()) as { rows: object[] };
    const iso = (ms: number) => new Date(ms).toISOString();
    const unknown = { added_at: null, planned_until: null, ended_at: null, ended_by: null };
    expect(rows).toMatchObject([
      {
        ...{ id: 'm1', state: 'over', models: ['ranker'], who: 'ann', on_behalf_of: 'the drill' },
        ...{ from: iso(nowMs - 60_000), until: iso(nowMs), added_at: iso(nowMs - 60_000) },
        ...{ planned_until: iso(nowMs + 3_600_000), ended_at: iso(nowMs), ended_by: 'bob' },
      },
      { id: 'old', state: 'over', who: 'cas', on_behalf_of: null, ...unknown },
    ]);
    const later = { fromMs: nowMs + 3_600_000, untilMs: nowMs + 7_200_000 };
    await store.put({ ...mute, ...later, id: 'm2' });
    const listed = await rig.cli(['mute', '--history']);
    const lines = listed.out.trim().split('\n');
    expect([listed.exitCode, lines.length, lines.at(-2)]).toEqual([
      ...[0, lines.length],
      expect.stringMatching(/^m1 +model ranker .* ann for the drill +bob/),
    ]);
    expect(lines.at(-1)).toMatch(/^old .* cas +ran out/);
    expect(listed.out).toMatch(/^m2 .* begins later$/m);
  }));

it('mutes what was never seen too, and says so; the words are the same in every answer', () =>
  withRig({ stack, name: 'muting' }, async (rig) => {
    const token = 'the-operator-token-of-the-test';
    const event = { ts: Date.now(), model: 'ranker', region: 'eu-west-1', stages_ms: { queue: 1 } };
    await rig.publish([{ value: JSON.stringify(event) }]);
    const pipeline = await rig.start(['ingest']);
    await rig.untilConsumed(1);
    await pipeline.stop();
    const mute = async (...argv: readonly string[]) => {
      const more = ['--for', '2h', '--why', 'load test', '--json'];
      const { exitCode, err, out } = await rig.cli(['mute', ...argv, ...more]);
      expect([exitCode, err]).toEqual([0, '']);
      return JSON.parse(out) as { mute: Record<string, unknown>; notes: string[] };
    };
    const seen = await mute('--model', 'rank*', '--where', 'region=eu-*');
    expect(seen.notes).toEqual([]);
    const unseen = await mute('--model', 'rankr', '--model', 'ranker', '--where', 'region=mars');
    expect(unseen.notes).toEqual([
      'No event of model rankr in the last 24 h; seen: ranker.',
      'No event of region mars in the last 24 h; seen: eu-west-1.',
    ]);
    const shown = await rig.cli(['mute', '--model', 'rankr', '--for', '1h', '--why', 'x']);
    expect([shown.exitCode, shown.err]).toEqual([
      0,
      'note: No event of model rankr in the last 24 h; seen: ranker. The mute holds all the same.\n',
    ]);

    const { url } = await rig.start(['serve'], {
      ...rig.config,
      http: { ...rig.config.http, operator_token: token },
    });
    const until_ms = Date.now() + 7_200_000;
    const posted = await fetch(`${url}/v1/mutes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({
        ...{ models: ['rankr'], from_ms: Date.now(), until_ms, why: 'load test', who: 'ann' },
      }),
    });
    const answer = (await posted.json()) as typeof unseen;
    expect([posted.status, answer.notes]).toEqual([
      201,
      ['No event of model rankr in the last 24 h; seen: ranker.'],
    ]);
    const listed = (await (await fetch(`${url}/v1/mutes`)).json()) as { mutes: object[] };
    expect(listed.mutes).toHaveLength(4);
    expect(listed.mutes).toEqual(expect.arrayContaining([seen.mute, unseen.mute, answer.mute]));
    const listedByCommand = await rig.cli(['mute', '--json']);
    expect(JSON.parse(listedByCommand.out)).toEqual(listed);
    const ended = await rig.cli(['mute', '--end', String(seen.mute.id)]);
    expect(ended.out).toBe(
      'Ended: model rank*, region eu-*. What is still open is delivered within 5 seconds.\n',
    );
  }));
