import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { expect, it } from 'vitest';
import { DeliveryStore } from '../../src/sink/anomalies/delivery-store.ts';
import { useStack } from '../containers/stack.ts';
import { anomalyFixture } from '../contract/anomaly-fixture.ts';
import { OutboxChild } from './alertmanager/outbox-child.ts';
import { poll } from './kit/poll.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();

/** Says what a request is of: `id firing`, `id resolved`. */
type Reader = (body: string) => string;

/** The body of Alertmanager's webhooks. */
const ofWebhook: Reader = (body) => {
  const [{ labels, status }] = JSON.parse(body).alerts;
  return `${labels.dedup_key} ${status}`;
};
/** An alert as Alertmanager takes it. */
const ofAlertmanager: Reader = (body) => {
  const [{ labels, endsAt }] = JSON.parse(body);
  return `${labels.dedup_key} ${Date.parse(endsAt) <= Date.now() ? 'resolved' : 'firing'}`;
};
const ofPagerDuty: Reader = (body) => {
  const { dedup_key, event_action } = JSON.parse(body);
  return `${dedup_key} ${event_action === 'resolve' ? 'resolved' : 'firing'}`;
};

/** A server on one port that can be away, answer, or take a request and never answer. */
class Service {
  readonly seen: string[] = [];
  readonly #read: Reader;
  #server: Server | undefined;
  #port = 0;

  constructor(read: Reader) {
    this.#read = read;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async listen(answers: boolean): Promise<void> {
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const part of request) body += part;
      if (!body.includes('TailmarkWatchdog')) this.seen.push(this.#read(body));
      if (answers) response.writeHead(202).end('{"status":"success"}');
    });
    this.#server = server;
    await once(server.listen(this.#port, '127.0.0.1'), 'listening');
    this.#port = (server.address() as { port: number }).port;
  }

  async leave(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }
}

it('brings receivers no end of what no attempt reached, and the end of what may have arrived, over kill -9', () =>
  withRig({ stack, name: 'killed-outbox' }, async (rig) => {
    const services = {
      hook: new Service(ofWebhook),
      am: new Service(ofAlertmanager),
      pager: new Service(ofPagerDuty),
    };
    const all = Object.values(services);
    // A port that nobody listens at any more refuses connections.
    for (const service of all) {
      await service.listen(true);
      await service.leave();
      rig.atEnd(() => service.leave());
    }
    const { hook, am, pager } = services;
    const receivers = [
      { type: 'webhook', name: 'hook', format: 'alertmanager', url: hook.url },
      { type: 'alertmanager', name: 'am', urls: [am.url] },
      { type: 'pagerduty', name: 'pager', url: pager.url, routing_key: 'k'.repeat(32) },
    ];
    const outbox = new OutboxChild({
      ...rig.env,
      TAILMARK_ALERT_RECEIVERS: JSON.stringify(receivers),
    });
    rig.atEnd(() => outbox.kill());
    await outbox.start();
    const emit = (id: string, isOver = false) => {
      const now = new Date().toISOString();
      const end = { state: 'resolved', revision: 2, resolved_at: now } as const;
      const event = { id, dedup_key: id, started_at: now, severity: 'critical' } as const;
      outbox.emit(anomalyFixture({ ...event, ...(isOver && end) }));
    };
    const store = new DeliveryStore(rig.client);
    const outcomesOf = async (id: string) =>
      (await store.statusOf([id])).map(({ revision, outcome }) => `${revision} ${outcome}`);
    const untilAll = (id: string, outcome: string) =>
      poll(`${outcome} ${id} everywhere`, async () => {
        const rows = await outcomesOf(id);
        return rows.filter((row) => row === outcome).length === all.length ? true : undefined;
      });
    const restart = async () => {
      await outbox.kill();
      await outbox.start();
    };

    const missed = ['m0', 'm1', 'm2', 'm3', 'm4'];
    for (const id of missed) emit(id);
    for (const id of missed) await untilAll(id, '1 failed');
    await restart();
    for (const id of missed) emit(id, true);
    for (const id of missed) await untilAll(id, '2 skipped');
    await restart();

    // It takes the opening, and the process is killed before any answer.
    for (const service of all) await service.listen(false);
    emit('lost');
    await poll(
      'the opening is under way',
      () => (all.every(({ seen }) => seen.includes('lost firing')) ? true : undefined),
      { deadlineMs: 30_000, seen: () => all.map(({ seen }) => seen) },
    );
    await outbox.kill();
    for (const service of all) await service.leave();
    await outbox.start();
    emit('lost', true);
    await untilAll('lost', '2 failed');
    await restart();

    for (const service of all) await service.listen(true);
    await untilAll('lost', '2 accepted');
    emit('next');
    await untilAll('next', '1 accepted');
    for (const { seen } of all) {
      expect([...new Set(seen)]).toEqual(['lost firing', 'lost resolved', 'next firing']);
    }
  }));
