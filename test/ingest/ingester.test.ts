import { expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/telemetry/log.ts';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { configSchema } from '../../src/config/schema.ts';
import { Ingester } from '../../src/ingest/ingester.ts';
import type { Source, SourceHandler } from '../../src/source/source.ts';
import { type Handler, json, startRegistry } from '../registry/registry-server.ts';
import { logOf } from './fake-bench.ts';
import { FakeBroker, FakeClaim } from './fake-broker.ts';
import { FakeChunkStore } from './fake-chunk-store.ts';
import { logNowMs, logStartMs } from './fake-log.ts';
import { contextOf } from './fake-process.ts';
import { FakePublisher } from './fake-publisher.ts';
import { FakeWorld } from './fake-world.ts';
import { testConfig } from './test-config.ts';

/** A source that hands over the handler it is started with, and does nothing. */
function idleSource(): { readonly source: Source; readonly handler: () => SourceHandler } {
  let handler: SourceHandler | undefined;
  const source: Source = {
    groupId: 'g',
    start: async (given) => {
      handler = given;
    },
    done: new Promise(() => undefined),
    quiesce: () => undefined,
    stop: async () => undefined,
  };
  const started = () => {
    if (handler === undefined) throw new Error('the source is not started');
    return handler;
  };
  return { source, handler: started };
}

it('says how the registry failed last where a partition waits for a schema', async () => {
  let respond: Handler = (_, response) => json(response, 401, {});
  const registry = await startRegistry((request, response) => respond(request, response));
  const world = new FakeWorld(logNowMs);
  const servers = { world, store: new FakeChunkStore(world), publisher: new FakePublisher(world) };
  const value = Buffer.from([0, 0, 0, 0, 7, 1]);
  const broker = new FakeBroker([{ offset: 0, timestampMs: logStartMs, value }], 1);
  const { kafka, schema_registry } = configSchema.parse({
    kafka: { topics: [{ topic: 't', format: 'avro' }] },
    schema_registry: { url: registry.url },
  });
  const config = { ...testConfig(), kafka, schema_registry };
  const { clock, store } = contextOf({ ...servers, broker }, config, 0, () => undefined);
  let elapsedMs = 0;
  const sleep = async (ms: number) => {
    elapsedMs += ms;
    await systemClock.yieldToEventLoop();
  };
  const { source, handler } = idleSource();
  const log = createLog({ level: 'silent' });
  const options = { config, source, store, publisher: undefined, log, metrics: createMetrics() };
  const times = { elapsedMs: () => elapsedMs, every: () => () => undefined, sleep };
  const ingester = new Ingester({ ...options, clock: { ...clock, ...times } });
  await ingester.start();
  const responding = setInterval(() => world.open.length > 0 && world.removeAt(0).respond());
  try {
    const claim = new FakeClaim(broker, world, 0, broker.join());
    await handler().onClaimed(claim, broker.found);
    const batch = broker.batch(0, 1);
    if (batch === undefined) throw new Error('no batch');
    const handled = handler().onBatch(claim, batch, claim.keepAlive);
    handled.catch(() => undefined);
    const said = () => ingester.problems().join().replace(/\d+ s/, 'N s');
    const waits = 'ingest: t/0 has waited N s for a schema of the registry: status';
    await expect.poll(said).toMatch(new RegExp(`^${waits} 401: see schema_registry.username`));
    respond = (_, response) => void response.writeHead(404).end('<html>');
    await expect.poll(said).toMatch(new RegExp(`^${waits} 404, but not as a registry says it`));
    respond = (_, response) => void response.end('<html>');
    await expect.poll(said).toMatch(new RegExp(`^${waits} 200 without a schema`));
    await ingester.abandon();
  } finally {
    clearInterval(responding);
    await registry.close();
  }
});

it('shows lag and watermark of its current partitions only', async () => {
  const world = new FakeWorld(logNowMs);
  const servers = { world, store: new FakeChunkStore(world), publisher: new FakePublisher(world) };
  const broker = logOf(9);
  const config = testConfig();
  const { clock, store } = contextOf({ ...servers, broker }, config, 0, () => undefined);
  const metrics = createMetrics();
  let tick: () => void = () => undefined;
  const every = (_: number, action: () => void) => {
    tick = action;
    return () => undefined;
  };
  const { source, handler } = idleSource();
  const log = createLog({ level: 'silent' });
  const options = { config, source, store, publisher: undefined, log, metrics };
  const ingester = new Ingester({ ...options, clock: { ...clock, every } });
  await ingester.start();
  const responding = setInterval(() => world.open.length > 0 && world.removeAt(0).respond());
  try {
    const claim = new FakeClaim(broker, world, 0, broker.join());
    await handler().onClaimed(claim, broker.found);
    const batch = broker.batch(0, 4);
    if (batch === undefined) throw new Error('no batch');
    await handler().onBatch(claim, batch, claim.keepAlive);
    tick();
    const shown = async () => (await metrics.watermarkSeconds.get()).values.length;
    expect(await shown()).toBe(1);
    handler().onLost(claim);
    tick();
    expect(await shown()).toBe(0);
  } finally {
    clearInterval(responding);
  }
});
