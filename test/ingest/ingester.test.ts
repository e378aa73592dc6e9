import { expect, it } from 'vitest';
import { createLog } from '../../src/base/telemetry/log.ts';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { Ingester } from '../../src/ingest/ingester.ts';
import type { Source, SourceHandler } from '../../src/source/source.ts';
import { logOf } from './fake-bench.ts';
import { FakeClaim } from './fake-broker.ts';
import { FakeChunkStore } from './fake-chunk-store.ts';
import { logNowMs } from './fake-log.ts';
import { contextOf } from './fake-process.ts';
import { FakePublisher } from './fake-publisher.ts';
import { FakeWorld } from './fake-world.ts';
import { testConfig } from './test-config.ts';

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
  const log = createLog({ level: 'silent' });
  const options = { config, source, store, publisher: undefined, log, metrics };
  const ingester = new Ingester({ ...options, clock: { ...clock, every } });
  await ingester.start();
  const responding = setInterval(() => world.open.length > 0 && world.removeAt(0).respond());
  try {
    const claim = new FakeClaim(broker, world, 0, broker.join());
    await handler?.onClaimed(claim, broker.found);
    const batch = broker.batch(0, 4);
    if (batch === undefined) throw new Error('no batch');
    await handler?.onBatch(claim, batch, claim.keepAlive);
    tick();
    const shown = async () => (await metrics.watermarkSeconds.get()).values.length;
    expect(await shown()).toBe(1);
    handler?.onLost(claim);
    tick();
    expect(await shown()).toBe(0);
  } finally {
    clearInterval(responding);
  }
});
