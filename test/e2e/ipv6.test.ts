import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { useStack } from '../containers/stack.ts';
import { Rig } from './kit/rig.ts';

const stack = useStack();

it('Kafka and the health endpoint may have IPv6 addresses: every event is stored', async () => {
  const [host = '', port = ''] = stack.brokers[0]?.split(':') ?? [];
  // The broker itself listens on IPv4.
  const forwarder = createServer((inner) => {
    const outer = connect(Number(port), host);
    inner.pipe(outer).pipe(inner);
    for (const socket of [inner, outer]) socket.on('error', () => inner.destroy());
  }).listen(0, '::1');
  await once(forwarder, 'listening');
  const broker = `[::1]:${(forwarder.address() as AddressInfo).port}`;
  const settings = { KAFKA_BROKERS: broker, HTTP_LISTEN: '[::1]:0' };
  const rig = await Rig.open({ stack, name: 'ipv6', settings });
  try {
    expect(rig.config.kafka.brokers).toEqual([broker]);
    await rig.publish([
      { value: JSON.stringify({ ts: Date.now() - 60_000, model: 'm', total_ms: 5 }) },
    ]);
    const pipeline = await rig.start(['ingest', 'serve']);
    await rig.untilConsumed(1);
    expect(pipeline.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await fetch(`${pipeline.url}/healthz`)).status).toBe(200);
    expect((await rig.cli(['check', '--connect'])).exitCode).toBe(0);
    await pipeline.stop();
    await rig.expectVerified();
  } finally {
    await rig.close();
    forwarder.close();
  }
});
