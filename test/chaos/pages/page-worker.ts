import { randomUUID } from 'node:crypto';
import { Outbox } from '../../../src/alert/outbox/outbox.ts';
import { openRoutes } from '../../../src/alert/routing/open-routes.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { createLog } from '../../../src/base/telemetry/log.ts';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import { loadConfig } from '../../../src/config/load/load-config.ts';
import { createKafkaClient } from '../../../src/kafka/client/kafka-client.ts';
import { openKafkaPublisher } from '../../../src/kafka/client/kafka-publisher.ts';
import { KafkaLeadership } from '../../../src/kafka/leadership/kafka-leadership.ts';
import { AnomalyStore } from '../../../src/sink/anomalies/anomaly-store.ts';
import { DeliveryStore } from '../../../src/sink/anomalies/delivery-store.ts';
import { openClickHouse } from '../../../src/sink/client/clickhouse.ts';
import { type PagePlanOptions, pagePlan } from './page-plan.ts';

/**
 * A detector's leader without its detection: decides the events of a plan at their time, stores each, and
 * hands it to the outbox that ships. Prints `leads` when it leads. Ends when it is killed.
 */
interface Order extends PagePlanOptions {
  readonly startMs: number;
}

const order = JSON.parse(process.env.PAGES_ORDER ?? '') as Order;
const { config } = loadConfig({ env: process.env, readFile: () => '' });
const log = createLog({ level: 'warn' });
const client = openClickHouse(config.clickhouse);
const anomalies = new AnomalyStore(client);
const publisher = await openKafkaPublisher(config.kafka);
const leadership = await KafkaLeadership.open({
  kafka: createKafkaClient(config.kafka, { log }),
  config: config.kafka,
  groupId: `${config.kafka.group_id}-detect`,
  topic: config.alert.topic,
  storeId: 'pages',
  sessionTimeoutMs: config.detect.session_timeout,
  clock: systemClock,
  log,
});
const plan = pagePlan(order);
const routes = openRoutes(config.alert, publisher, {});

for (;;) {
  while (!leadership.isLeading()) await systemClock.sleep(50);
  await lead();
}

async function lead(): Promise<void> {
  const name = randomUUID().slice(0, 8);
  const outbox = new Outbox({
    routes,
    store: new DeliveryStore(client),
    readMutes: async () => [],
    giveUpAfterMs: config.alert.give_up_after,
    clock: systemClock,
    random: Math.random,
    isLeading: () => leadership.isLeading(),
    log,
    metrics: createMetrics(),
  });
  // What a predecessor has decided is in the table; the rest of the plan is ours.
  const { events } = await new DeliveryStore(client).load([], 0);
  const done = new Set(events.map(({ event }) => `${event.id}/${event.revision}`));
  await outbox.start();
  process.stdout.write(`leads ${name}\n`);
  for (const { atMs, event } of plan) {
    if (done.has(`${event.id}/${event.revision}`)) continue;
    await systemClock.sleep(Math.max(0, order.startMs + atMs - Date.now()));
    if (!leadership.isLeading()) break;
    const decidedMs = Date.now();
    const decided = { ...event, emitted_at: new Date(decidedMs).toISOString() };
    await anomalies.add(decided);
    outbox.add(decided);
  }
  while (leadership.isLeading()) await systemClock.sleep(50);
  await outbox.stop(1_000);
}
