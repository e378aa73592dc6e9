import { describe, expect, it } from 'vitest';
import type { Logger } from '../../src/base/telemetry/log.ts';
import { freePorts } from '../../src/local/local-ports.ts';
import { type Pipeline, startPipeline } from '../../src/pipeline.ts';
import { LeadershipLost } from '../../src/roles/detect/leadership-lost.ts';
import { FaultyProxy } from '../chaos/faulty-proxy.ts';
import { useStack } from '../containers/stack.ts';
import { poll } from './kit/poll.ts';
import type { Rig } from './kit/rig.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();

/** Starts a process whose first query as the leader waits until the proxy heals. */
async function startOf(rig: Rig, signal: AbortSignal) {
  const proxy = await FaultyProxy.start(Number(new URL(rig.config.clickhouse.url).port));
  rig.atEnd(() => proxy.close());
  const [port = 0] = await freePorts([undefined]);
  const log = Object.create(rig.log) as Logger;
  const logged: unknown[] = [];
  log.info = (...given: unknown[]) => {
    logged.push(...given);
    if (!given.includes('leadership acquired; this process detects')) return;
    proxy.inject({ kind: 'stall', containing: '', times: 1, afterBytes: 0 });
  };
  const config = {
    ...rig.config,
    clickhouse: { ...rig.config.clickhouse, url: `http://127.0.0.1:${proxy.port}` },
    http: { ...rig.config.http, listen: `127.0.0.1:${port}` },
  };
  const starting = startPipeline(config, {
    ...{ roles: ['ingest', 'detect', 'serve'], stdin: process.stdin, log, signal },
  });
  starting.catch(() => undefined);
  await poll('the detector waits for ClickHouse', () => (proxy.hits > 0 ? true : undefined));
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, text: await response.text() };
  };
  return { proxy, starting, get, logged };
}

describe('a process whose detector still learns', () => {
  it('is alive and not ready, and says why; then it is ready', () =>
    withRig({ stack, name: 'start' }, async (rig) => {
      const { proxy, starting, get } = await startOf(rig, new AbortController().signal);
      expect(await get('/healthz')).toEqual({ status: 200, text: 'ok\n' });
      const { status, text } = await get('/readyz');
      expect([status, text]).toEqual([
        503,
        expect.stringContaining('loads its state or learns the past\n'),
      ]);
      expect((await get('/metrics')).text).toContain('\ntailmark_detector_leader 0\n');
      proxy.heal();
      const pipeline: Pipeline = await starting;
      rig.atEnd(() => pipeline.stop());
      await poll('it is ready', async () =>
        (await get('/readyz')).status === 200 ? true : undefined,
      );
    }));

  it('ends at once on SIGTERM, and reads nothing', () =>
    withRig({ stack, name: 'start_end' }, async (rig) => {
      const stopping = new AbortController();
      const { proxy, starting, get, logged } = await startOf(rig, stopping.signal);
      stopping.abort();
      proxy.heal();
      // Led from its start on, it has not started; else it ends at once, though it still learns.
      await starting.then(
        (pipeline) => pipeline.stop(),
        (error: unknown) => expect(error).toBeInstanceOf(LeadershipLost),
      );
      await expect(get('/healthz')).rejects.toThrow('fetch failed');
      expect(logged).not.toContain('detector ready');
    }));
});
