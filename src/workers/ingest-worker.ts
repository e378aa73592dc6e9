import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../base/clock.ts';
import { invariant } from '../base/invariant.ts';
import { startCpuProfile } from '../base/telemetry/cpu-profile.ts';
import { createLog } from '../base/telemetry/log.ts';
import { createMetrics, readMetrics } from '../base/telemetry/metrics.ts';
import { collectThreadMetrics } from '../base/telemetry/process-metrics.ts';
import { rememberSecrets } from '../config/secrets/remember-secrets.ts';
import { startIngestThread } from '../ingest/start-ingest-thread.ts';
import { openKafkaPublisher } from '../kafka/client/kafka-publisher.ts';
import { loginsOf } from '../kafka/login/logins.ts';
import { openClickHouse } from '../sink/client/clickhouse.ts';
import {
  packFailure,
  type WorkerData,
  type WorkerMessage,
  type WorkerRequest,
} from './worker-messages.ts';

// One thread of the ingest role: a member of the group with its own connections. It ends on a stop request,
// or after reporting why it cannot continue.

const REPORT_INTERVAL_MS = 1_000;

const port = parentPort;
invariant(port !== null, 'an ingest worker is a thread');
const post = (message: WorkerMessage) => port.postMessage(message);
const fail = (error: unknown) => post({ type: 'failed', failure: packFailure(error) });
try {
  const { config, worker, profile } = workerData as WorkerData;
  rememberSecrets(config);
  const log = createLog({ level: config.log.level }).child({ worker });
  const metrics = createMetrics();
  collectThreadMetrics(metrics);
  const writeProfile = profile === undefined ? undefined : await startCpuProfile(profile);
  const client = openClickHouse(config.clickhouse);
  loginsOf(config.kafka).waitForFirst({ log });
  const publisher = await openKafkaPublisher(config.kafka);
  const running = await startIngestThread(config, {
    client,
    stdin: process.stdin,
    startedMs: systemClock.nowMs(),
    log,
    metrics,
    publisher,
  });
  running.done.catch(fail);
  const reporting = setInterval(
    () => post({ type: 'problems', problems: running.problems(), notes: running.notes() }),
    REPORT_INTERVAL_MS,
  );
  const stop = async () => {
    await running.stop();
    await publisher.close();
    await client.close();
    await writeProfile?.();
    clearInterval(reporting);
    post({ type: 'stopped' });
    port.close();
  };
  const respond = async (request: WorkerRequest) => {
    if (request.ask === 'stop') return stop();
    post({ type: 'metrics', id: request.id, metrics: await readMetrics(metrics) });
  };
  port.on('message', (request: WorkerRequest) => {
    respond(request).catch(fail);
  });
  post({ type: 'reading' });
} catch (error) {
  fail(error);
  port.close();
}
