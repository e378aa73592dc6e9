import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/base/clock.ts';
import { OperatorError } from '../../../src/base/operator-error.ts';
import type { Logger } from '../../../src/base/telemetry/log.ts';
import { leaseSeconds, StoreGuard } from '../../../src/sink/guard/store-guard.ts';

const newer = new OperatorError('TAILMARK_SCHEMA_NEWER', 'newer');

/** A database with its own clock; `calls` are in order. */
class World {
  elapsedMs = 0;
  server = 'a';
  failure: Error | undefined;
  schema: OperatorError | undefined;
  engines: OperatorError | undefined;
  settings: OperatorError | undefined;
  readonly calls: string[] = [];
  readonly lines: string[] = [];
  tick: () => void = () => undefined;
  onEngines: () => void = () => undefined;
  isCancelled = false;

  open(): Promise<StoreGuard> {
    return StoreGuard.open({
      clock: {
        elapsedMs: () => this.elapsedMs,
        every: (_: number, action: () => void) => {
          this.tick = action;
          return () => {
            this.isCancelled = true;
          };
        },
      } as unknown as Clock,
      log: { warn: ({ err }: { err: string }) => this.lines.push(err) } as unknown as Logger,
      database: {
        find: async (connections) => {
          this.calls.push(`find ${connections}`);
          await Promise.resolve();
          if (this.failure !== undefined) throw this.failure;
          return { identity: this.server, clockAheadMs: 0 };
        },
        requireEngines: async () => {
          this.calls.push('engines');
          this.onEngines();
          if (this.engines !== undefined) throw this.engines;
        },
        requireDeduplication: async () => {
          this.calls.push('settings');
          if (this.settings !== undefined) throw this.settings;
        },
        renewLease: async () => void this.calls.push('renew'),
        releaseLease: async () => void this.calls.push('release'),
        requireSchema: async () => {
          this.calls.push('schema');
          if (this.schema !== undefined) throw this.schema;
        },
      },
    });
  }

  /** Calls since the last time. */
  drain(): string[] {
    return this.calls.splice(0);
  }
}

describe('StoreGuard', () => {
  it('takes the lease before it reads the schema, so that a migration sees it or is seen', async () => {
    const world = new World();
    await world.open();
    expect(world.drain()).toEqual(['find 8', 'engines', 'find 2', 'settings', 'renew', 'schema']);
  });

  it('refuses the start with tables of other engines, before anything is written', async () => {
    const world = new World();
    world.engines = new OperatorError('TAILMARK_CLICKHOUSE_UNSUPPORTED', 'replicated');
    await expect(world.open()).rejects.toBe(world.engines);
    expect(world.drain()).toEqual(['find 8', 'engines']);
  });

  it('gives the lease back where the schema is refused', async () => {
    const world = new World();
    world.schema = newer;
    await expect(world.open()).rejects.toBe(newer);
    expect(world.drain()).toEqual([
      'find 8',
      'engines',
      'find 2',
      'settings',
      'renew',
      'schema',
      'release',
    ]);
  });

  it('refuses the start where the tables that it looked at may be of another server', async () => {
    const world = new World();
    const opened = world.open();
    world.server = 'b';
    world.onEngines = () => {
      world.server = 'a';
    };
    await expect(opened).rejects.toMatchObject({ code: 'TAILMARK_CLICKHOUSE_UNSUPPORTED' });
  });

  it('permits writes of the next second at once, and asks for the server after it', async () => {
    const world = new World();
    const guard = await world.open();
    world.drain();
    world.elapsedMs = 1_000;
    await guard.permit();
    expect(world.drain()).toEqual([]);
    world.elapsedMs = 1_001;
    await Promise.all([guard.permit(), guard.permit()]);
    expect(world.drain()).toEqual(['find 1']);
  });

  it('refuses a response of another server, although questions before and after lead to the first', async () => {
    const world = new World();
    const guard = await world.open();
    guard.requireServer('a');
    expect(() => guard.requireServer('b')).toThrow('it leads to b, and led to a at the start');
    world.drain();
    for (const refused of [guard.permit(), guard.check(), guard.failed]) {
      await expect(refused).rejects.toMatchObject({ code: 'TAILMARK_CLICKHOUSE_UNSUPPORTED' });
    }
    expect(() => guard.requireServer('a')).toThrow('it leads to b, and led to a at the start');
    expect(world.drain()).toEqual([]);
  });

  it('looks for a migration before it writes, where the lease may have ended', async () => {
    const world = new World();
    const guard = await world.open();
    world.drain();
    world.elapsedMs = 45_000;
    await guard.permit();
    expect(world.drain()).toEqual(['find 1']);
    world.elapsedMs = 45_001;
    world.schema = newer;
    await expect(guard.permit()).rejects.toBe(newer);
    expect(world.drain()).toEqual(['find 2', 'settings', 'renew', 'schema']);
    await expect(guard.failed).rejects.toBe(newer);
    // A lease outlasts a write that begins at the end of a permit.
    expect(leaseSeconds(60_000)).toBeGreaterThan(45 + 60);
  });

  it('renews the lease at its interval, without a look at the schema', async () => {
    const world = new World();
    const guard = await world.open();
    world.drain();
    world.elapsedMs = 15_000;
    world.schema = newer;
    world.tick();
    await guard.check();
    expect(world.drain()).toEqual(['find 2', 'settings', 'renew']);
  });

  it('permits nothing once another server was found, even when the first is back', async () => {
    const world = new World();
    const guard = await world.open();
    world.elapsedMs = 2_000;
    world.server = 'b';
    const refusal = {
      code: 'TAILMARK_CLICKHOUSE_UNSUPPORTED',
      message:
        'Cannot store each chunk exactly once as clickhouse.url must always lead to the same server and ' +
        'tables: it leads to b, and led to a at the start',
      exitCode: 78,
    };
    await expect(guard.permit()).rejects.toMatchObject(refusal);
    world.server = 'a';
    await expect(guard.permit()).rejects.toMatchObject(refusal);
    await expect(guard.failed).rejects.toMatchObject(refusal);
    expect(guard.hasFailed).toBe(true);
    world.drain();
    await expect(guard.check()).rejects.toMatchObject(refusal);
    expect(world.drain()).toEqual([]);
  });

  it('lets a write fail while ClickHouse does not respond, logs that once, and goes on after', async () => {
    const world = new World();
    const guard = await world.open();
    world.failure = new Error('connection refused');
    world.elapsedMs = 2_000;
    await expect(guard.permit()).rejects.toBe(world.failure);
    await expect(guard.permit()).rejects.toBe(world.failure);
    expect([world.lines, guard.hasFailed]).toEqual([['connection refused'], false]);
    world.failure = undefined;
    await guard.permit();
  });

  it('stops its checks and gives the lease back when it is closed', async () => {
    const world = new World();
    const guard = await world.open();
    world.drain();
    await guard.close();
    expect([world.drain(), world.isCancelled]).toEqual([['release'], true]);
  });
});
