import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../../src/config/load/load-config.ts';
import { ensureTopics } from '../../../src/kafka/client/kafka-topics.ts';
import { openClickHouse } from '../../../src/sink/client/clickhouse.ts';
import { rowsOf } from '../../../src/sink/client/read-query.ts';
import { migrate } from '../../../src/sink/migrate/migrate.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { ChaosServers } from '../chaos-servers.ts';
import { troubles } from './bad-receiver.ts';
import type { PagePlanOptions } from './page-plan.ts';
import { type StormReceiver, stormReceivers } from './page-receivers.ts';
import type { ReceiverSummary } from './page-summary.ts';

export interface PagesOptions extends PagePlanOptions {
  readonly kills: number;
  /** Kills after which a standby takes over. */
  readonly takeovers: number;
  readonly dir: string;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

export interface PagesSummary {
  readonly receivers: readonly ReceiverSummary[];
  readonly kills: number;
  readonly takeovers: number;
  /** From the decision to the first acceptance of each opening at the receiver without trouble, in ms. */
  readonly delaysMs: readonly number[];
  readonly isOver: boolean;
}

const worker = fileURLToPath(new URL('page-worker.js', import.meta.url));
/** Longest wait for the rest, once all receivers are well again: after a 401 the next attempt is 5 minutes away. */
const settleMs = 6 * 60_000;

/** Anomalies for receivers in trouble, while the process that delivers them is killed again and again. */
export async function runPages(options: PagesOptions): Promise<PagesSummary> {
  const { seed, kills, takeovers, forMs, dir, say, signal } = options;
  const servers = await ChaosServers.start(dir);
  const receivers = stormReceivers();
  for (const { server } of receivers) await server.start();
  const env = environmentOf(servers, receivers);
  const { config } = loadConfig({ env, readFile: () => '' });
  await ensureTopics(config.kafka, [{ topic: config.alert.topic, partitions: 1, settings: {} }]);
  await migrate(config.clickhouse);
  const random = new SeededRandom(seed);
  const startMs = Date.now() + 5_000;
  const order = JSON.stringify({ seed, anomalies: options.anomalies, forMs, startMs });
  const start = () => startWorker({ ...env, PAGES_ORDER: order });
  let leader = start();
  const all = [leader];
  const troubled = makeTrouble(receivers, random, startMs + forMs, signal);
  try {
    const everyMs = forMs / (kills + 1);
    for (let kill = 0; kill < kills && !signal.aborted; kill++) {
      const hasStandby = kill % Math.ceil(kills / Math.max(1, takeovers)) === 0 && takeovers > 0;
      const standby = hasStandby ? start() : undefined;
      const atMs = startMs + everyMs * (kill + 0.5 + random.unit());
      await sleep(Math.max(0, atMs - Date.now()));
      leader.kill('SIGKILL');
      await once(leader, 'exit');
      leader = standby ?? start();
      all.push(leader);
      say(`${kill + 1} of ${kills} kills${hasStandby ? ', a standby takes over' : ''}`);
    }
    await troubled;
    const client = openClickHouse(config.clickhouse);
    const last = () => summaries(receivers, options, client);
    const endMs = startMs + forMs + 40_000 + settleMs;
    let receiverSummaries = await last();
    const isMissing = () => receiverSummaries.some(({ lost }) => lost.length > 0);
    while (isMissing() && Date.now() < endMs && !signal.aborted) {
      await sleep(1_000);
      receiverSummaries = await last();
    }
    // What is delivered twice comes late.
    await sleep(5_000);
    receiverSummaries = await last();
    for (const { name, lost } of receiverSummaries) await explain(client, name, lost, say);
    await client.close();
    return {
      receivers: receiverSummaries,
      kills,
      takeovers,
      delaysMs: delaysOf(receivers),
      isOver: !isMissing(),
    };
  } finally {
    for (const child of all) child.kill('SIGKILL');
    for (const { server } of receivers) server.stop();
    await servers.stop();
  }
}

function environmentOf(servers: ChaosServers, receivers: readonly StormReceiver[]) {
  return {
    TAILMARK_KAFKA_BROKERS: servers.brokers.join(','),
    TAILMARK_KAFKA_GROUP_ID: 'pages',
    TAILMARK_CLICKHOUSE_URL: `http://127.0.0.1:${servers.clickhousePort}`,
    TAILMARK_CLICKHOUSE_DATABASE: 'pages',
    TAILMARK_DETECT_SESSION_TIMEOUT: '6s',
    TAILMARK_ALERT_RECEIVERS: JSON.stringify(receivers.map(({ settings }) => settings())),
  };
}

function startWorker(env: Readonly<Record<string, string>>): ChildProcess {
  const { PATH, HOME } = process.env;
  return spawn(process.execPath, ['--enable-source-maps', worker], {
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** Each receiver but the last in trouble for half of the time, one trouble after the other. */
async function makeTrouble(
  receivers: readonly StormReceiver[],
  random: SeededRandom,
  endMs: number,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    receivers.slice(0, -1).map(async ({ server }, i) => {
      for (let turn = i; Date.now() < endMs && !signal.aborted; turn++) {
        server.trouble = troubles[turn % troubles.length];
        // A wrong key is for minutes in life; here for as long as the run has.
        await sleep(random.between(3_000, 15_000));
        server.trouble = undefined;
        await sleep(random.between(3_000, 15_000));
      }
      server.trouble = undefined;
    }),
  );
}

/** From the time in the event to its acceptance, of openings at the receiver that is never in trouble. */
function delaysOf(receivers: readonly StormReceiver[]): number[] {
  const [well] = receivers.slice(-1);
  return (well?.server.accepted ?? []).map(({ body, atMs }) => {
    const { emitted_at } = JSON.parse(body) as { emitted_at: string };
    return atMs - Date.parse(emitted_at);
  });
}

/** Says how far what is missing came. */
async function explain(
  client: ReturnType<typeof openClickHouse>,
  receiver: string,
  lost: readonly string[],
  say: (line: string) => void,
): Promise<void> {
  for (const each of lost.slice(0, 3)) {
    const rows = await rowsOf(
      client,
      `SELECT revision, attempt, outcome, state, severity, answer, toString(at) AS at FROM deliveries
       WHERE receiver = {receiver:String} AND id IN (SELECT id FROM anomalies WHERE model = {model:String})
       ORDER BY at`,
      { receiver, model: each.split(':')[0] },
    );
    say(`${receiver} lost ${each}: ${JSON.stringify(rows)}`);
  }
}

async function summaries(
  receivers: readonly StormReceiver[],
  options: PagePlanOptions,
  client: ReturnType<typeof openClickHouse>,
): Promise<ReceiverSummary[]> {
  // Over before it could be delivered: of it there is nothing on record, or its end alone.
  const skipped = await rowsOf<{ receiver: string; model: string }>(
    client,
    `SELECT receiver, model FROM deliveries AS d
     INNER JOIN (SELECT DISTINCT id, model FROM anomalies) AS a ON a.id = d.id
     GROUP BY receiver, model
     HAVING countIf(d.state = 'resolved' AND d.outcome IN ('skipped', 'accepted')) > 0
       AND countIf(d.state != 'resolved' AND d.outcome = 'accepted') = 0`,
  );
  return receivers.map(({ name, summary }) => {
    const models = skipped.filter(({ receiver }) => receiver === name).map(({ model }) => model);
    return summary(options, new Set(models));
  });
}
