// The outbox that ships, as built in dist/, in a process of its own. Each line of standard input is an event:
// it is stored and handed on, as the detector does, and "stored ID/REVISION" is said. Ends when it is killed.

import { createInterface } from 'node:readline';
import { Outbox } from '../../../dist/alert/outbox/outbox.js';
import { openRoutes } from '../../../dist/alert/routing/open-routes.js';
import { systemClock } from '../../../dist/base/clock.js';
import { createLog } from '../../../dist/base/telemetry/log.js';
import { createMetrics } from '../../../dist/base/telemetry/metrics.js';
import { loadConfig } from '../../../dist/config/load/load-config.js';
import { AnomalyStore } from '../../../dist/sink/anomalies/anomaly-store.js';
import { DeliveryStore } from '../../../dist/sink/anomalies/delivery-store.js';
import { openClickHouse } from '../../../dist/sink/client/clickhouse.js';

const { config } = loadConfig({ env: process.env, readFile: () => '' });
const client = openClickHouse(config.clickhouse);
const anomalies = new AnomalyStore(client);
const outbox = new Outbox({
  routes: openRoutes(config.alert, undefined, {}),
  store: new DeliveryStore(client),
  readMutes: async () => [],
  giveUpAfterMs: config.alert.give_up_after,
  clock: systemClock,
  random: Math.random,
  isLeading: () => true,
  log: createLog({ level: 'silent' }),
  metrics: createMetrics(),
});
await outbox.start();
process.stdout.write('started\n');
for await (const line of createInterface({ input: process.stdin })) {
  const event = JSON.parse(line);
  await anomalies.add(event);
  outbox.add(event);
  process.stdout.write(`stored ${event.id}/${event.revision}\n`);
}
