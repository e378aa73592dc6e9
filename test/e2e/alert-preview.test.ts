import { expect, it } from 'vitest';
import type { AnomalyEvent } from '../../src/contract/anomaly-event.ts';
import { AnomalyStore } from '../../src/sink/anomalies/anomaly-store.ts';
import { type DeliveryRow, DeliveryStore } from '../../src/sink/anomalies/delivery-store.ts';
import { MuteStore } from '../../src/sink/anomalies/mute-store.ts';
import { useStack } from '../containers/stack.ts';
import { anomalyFixture } from '../contract/anomaly-fixture.ts';
import type { Rig } from './kit/rig.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const nowMs = Date.now();
const at = (minutesAgo: number) => new Date(nowMs - minutesAgo * 60_000).toISOString();
const times = { started_at: at(5), detected_at: at(4), emitted_at: at(4) };

const receivers = [
  { type: 'webhook', name: 'events', url: 'https://hooks.example/CANARY' },
  { type: 'pagerduty', name: 'pager', routing_key: '0'.repeat(32) },
  { type: 'slack', name: 'chat', token: 'xoxb-CANARY', channel: '#ml' },
  {
    ...{ type: 'email', name: 'mail', server: 'mailhost:25' },
    ...{ from: 'tailmark@mailhost', to: ['root@localhost'] },
  },
  { type: 'webhook', name: 'search', url: 'https://x.example', match: { models: ['search'] } },
];
const names = receivers.map(({ name }) => name);

interface Shown {
  readonly receiver: string;
  readonly is_due: boolean;
  readonly why: string;
  readonly due: readonly {
    readonly change: string;
    readonly target: string;
    readonly body: string;
  }[];
  readonly whole: Shown['due'];
  readonly deliveries: readonly { readonly state: string; readonly outcome: string }[];
}

async function preview(rig: Rig, argv: readonly string[] = []) {
  const env = { ...rig.env, TAILMARK_ALERT_RECEIVERS: JSON.stringify(receivers) };
  const text = await rig.cli(['alert', 'preview', ...argv], { env });
  const json = await rig.cli(['alert', 'preview', ...argv, '--json'], { env });
  expect([text.err, text.exitCode, json.exitCode]).toEqual(['', 0, 0]);
  expect(`${text.out}${json.out}`).not.toContain('CANARY');
  const read = JSON.parse(json.out) as { readonly receivers: readonly Shown[] };
  return { text: text.out, of: new Map(read.receivers.map((each) => [each.receiver, each])) };
}

const rowOf = (changed: Partial<DeliveryRow>): DeliveryRow => ({
  ...{ receiver: 'pager', id: 'a1', revision: 1, attempt: 1, outcome: 'accepted', form: 'full' },
  ...{
    state: 'opened',
    severity: 'warning',
    answer: '202 Accepted',
    memory: '',
    mayHaveArrived: true,
    atMs: nowMs,
  },
  ...changed,
});

it('previews what would be sent now, by what each receiver was given before', () =>
  withRig({ stack, name: 'preview' }, async (rig) => {
    const nothing = await preview(rig);
    expect(nothing.text).toMatch(
      /^No anomaly is stored yet: this one is made up\. Nothing is sent\.\n/,
    );
    expect(nothing.of.get('pager')?.is_due).toBe(true);

    const deliveries = new DeliveryStore(rig.client);
    // All but the last are known; a preview itself registers nobody.
    await deliveries.load(names, 0);
    const anomalies = new AnomalyStore(rig.client);
    const event = (changed: Partial<AnomalyEvent>) =>
      anomalyFixture({ id: 'a1', severity: 'warning', ...times, ...changed });
    await anomalies.add(event({ revision: 1 }));

    const first = await preview(rig);
    expect(first.text).toContain('Anomaly a1: revision 1, open.\n');
    expect(first.text).toContain('pager: would be sent now: opening, as it meets match\n');
    expect(first.text).toContain(
      'search: nothing would be sent now, model ranker is not one of search\n',
    );
    expect(first.text).not.toContain(': sent');
    expect(first.of.get('search')).toMatchObject({ due: [], whole: [] });
    expect(first.of.get('events')?.due.map(({ change }) => change)).toEqual(['opened']);

    const memory = JSON.stringify({ channel: 'C1', ts: '1.5' });
    await deliveries.add([
      rowOf({}),
      rowOf({ receiver: 'chat', memory, answer: 'ok' }),
      rowOf({ receiver: 'mail', outcome: 'unacceptable', answer: '554 spam' }),
      rowOf({ receiver: 'mail', outcome: 'refused', attempt: 2, answer: '554 spam' }),
      rowOf({ receiver: 'events' }),
    ]);
    // Delivered before a mute: its end is delivered all the same, and only that.
    await new MuteStore(rig.client).put({
      ...{ id: 'm1', fromMs: nowMs - 1_000, untilMs: nowMs + 3_600_000, models: ['*'] },
      ...{ kinds: [], dimensions: {}, why: 'load test', who: 'ann' },
    });
    const muted = await preview(rig, ['a1']);
    expect([...muted.of.values()].map(({ is_due }) => is_due)).toEqual(names.map(() => false));
    expect(muted.text).toContain('pager: nothing would be sent now, muted by m1: load test\n');
    expect(muted.text).toMatch(
      /\n {2}before: opened refused [\d-]+ [\d:]+ UTC, 1 attempt: 554 spam\n/,
    );

    const end = { revision: 2, state: 'resolved', resolved_at: at(0), emitted_at: at(0) } as const;
    await anomalies.add(event({ ...end, resolution: 'recovered' }));
    const over = await preview(rig, ['a1']);
    const changes = (name: string) => over.of.get(name)?.due.map(({ change }) => change);
    expect([changes('pager'), changes('events'), changes('mail')]).toEqual([
      ['resolved'],
      ['resolved'],
      ['past'],
    ]);
    expect(over.text).toContain('pager: would be sent now: end, as it meets match\n');
    // It edits the message that was accepted, and replies to it.
    const chat = over.of.get('chat');
    expect(chat?.due.map(({ target }) => target)).toEqual([
      'POST https://slack.com/api/chat.update',
      'POST https://slack.com/api/chat.postMessage',
    ]);
    expect(JSON.parse(chat?.due[0]?.body ?? '')).toMatchObject({ channel: 'C1', ts: '1.5' });
    // What it would have been, if nothing had been in the way.
    const subjects = over.of
      .get('mail')
      ?.whole.map(({ body }) => /\nSubject: (\w+)/.exec(body)?.[1]);
    expect(subjects).toEqual(['WARNING', 'RESOLVED']);

    await deliveries.add([rowOf({ revision: 2, state: 'resolved' })]);
    const done = await preview(rig, ['a1']);
    expect(done.text).toContain('pager: nothing would be sent now, its end was accepted\n');
    expect(done.of.get('pager')?.deliveries.map(({ state, outcome }) => [state, outcome])).toEqual([
      ['opened', 'accepted'],
      ['resolved', 'accepted'],
    ]);
  }));

it('previews for a receiver that is new, and for one series of an anomaly', () =>
  withRig({ stack, name: 'preview-new' }, async (rig) => {
    const anomalies = new AnomalyStore(rig.client);
    await anomalies.add(anomalyFixture({ id: 'b1', ...times }));
    await anomalies.add(anomalyFixture({ id: 'c2', incident_id: 'b1', ...times }));
    const open = await preview(rig, ['b1']);
    expect(open.of.get('pager')?.is_due).toBe(true);
    await anomalies.add(
      anomalyFixture({
        ...{ id: 'b1', revision: 2, state: 'resolved', resolution: 'recovered' },
        ...{ ...times, resolved_at: at(0) },
      }),
    );
    const over = await preview(rig, ['b1']);
    expect(over.text).toContain(
      'pager: nothing would be sent now, it was over before this receiver was configured\n',
    );
    expect((await rig.rows('SELECT receiver FROM receivers')).length).toBe(0);
    const member = await rig.cli(['alert', 'preview', 'c2']);
    expect(member.exitCode).toBe(1);
    expect(member.err).toContain(
      'Cannot preview the anomaly: c2 is one series of b1, and receivers get that one\n',
    );
  }));
