import { systemClock } from '../base/clock.ts';
import type { Metrics } from '../base/telemetry/metrics.ts';
import type { Config } from '../config/schema.ts';
import type { Publisher } from '../kafka/client/publisher.ts';
import { ClickHouseChunkStore } from '../sink/chunks/chunk-store.ts';
import { ObservedStore } from '../sink/chunks/observed-store.ts';
import type { ClickHouseClient } from '../sink/client/clickhouse.ts';
import { ClockWatch } from '../sink/guard/clock-watch.ts';
import { openStoreGuard } from '../sink/guard/open-store-guard.ts';
import type { StoreGuard } from '../sink/guard/store-guard.ts';
import { withoutEvents } from '../source/event-text.ts';
import { HeldSource } from '../source/held-source.ts';
import { Ingester, instanceName } from './ingester.ts';
import { openSource, type SourceOptions } from './open-source.ts';

export interface IngestOptions extends SourceOptions {
  readonly client: ClickHouseClient;
  /** Receives dead letters; a file has none. */
  readonly publisher: Publisher | undefined;
}

/** The ingest role, in one thread or several. */
export interface RunningIngest {
  /**
   * Resolves when all of a finite source is stored. Rejects when the work cannot continue, and where none of
   * the source's lines was an event.
   */
  readonly done: Promise<void>;
  /** Reasons why it is unhealthy; empty when it is healthy. */
  problems(): readonly string[];
  /** Facts that an operator should know although it is healthy. */
  notes(): readonly string[];
  /** Stops reading, stores what was read, and releases the partitions. */
  stop(): Promise<void>;
}

/** ClickHouse's client times out by itself; a call that lasts this much longer is lost. */
const CALL_GRACE_MS = 10_000;
/** Requests of one call at most, each of which may take all its time: a permit asks for server, lease, schema. */
const REQUESTS_PER_CALL = 6;

export async function startIngestThread(
  config: Config,
  options: IngestOptions,
): Promise<RunningIngest> {
  const { client, log, metrics } = options;
  const maxFutureMs = config.windows.max_future;
  const watched = { role: 'ingest', maxFutureMs, clock: systemClock, log, metrics } as const;
  const clockWatch = new ClockWatch(watched);
  const guard = await openStoreGuard(config.clickhouse, {
    ...{ client, log, holder: instanceName() },
    onServer: ({ clockAheadMs }) => clockWatch.observe(clockAheadMs),
  });
  try {
    return await startGuarded(config, options, guard, clockWatch);
  } catch (error) {
    await guard.close();
    throw error;
  }
}

async function startGuarded(
  config: Config,
  options: IngestOptions,
  guard: StoreGuard,
  clockWatch: ClockWatch,
): Promise<RunningIngest> {
  const { storeId } = guard;
  const requireServer = (identity: string) => guard.requireServer(identity);
  const chunkStore = new ClickHouseChunkStore(options.client, instanceName(), requireServer);
  const longestCallMs = REQUESTS_PER_CALL * config.clickhouse.request_timeout + CALL_GRACE_MS;
  const store = new ObservedStore(chunkStore, systemClock, longestCallMs);
  let ingester: Ingester | undefined;
  const waitMs = (topic: string, partition: number) =>
    Math.max(
      store.waitMs(topic, partition),
      clockWatch.heldMs(),
      ingester?.waitingMs(topic, partition) ?? 0,
    );
  const source = new HeldSource(
    openSource(config, { ...options, storeId }, waitMs),
    () => clockWatch.holdsReading,
    systemClock,
  );
  const { publisher, log, metrics } = options;
  ingester = new Ingester({
    ...{ config, source, store, storeId, publisher, log, metrics },
    permit: (of) => store.waiting(of, () => guard.permit()),
    clockAheadMs: (of) => store.waiting(of, () => guard.clockAheadMs()),
  });
  await ingester.start();
  let drained: Promise<void> | undefined;
  const drain = () => {
    // Records that must not be stored any more are left to the next owner of the partitions.
    drained ??= guard.hasFailed ? ingester.abandon() : ingester.drain();
    return drained;
  };
  const finish = async () => {
    await drain();
    await requireEvents(config, metrics);
  };
  const done = Promise.race([source.done.then(finish), ingester.failed, guard.failed]);
  done.catch(() => undefined);
  return {
    done,
    // A cause before what it causes.
    problems: () => [
      ...store.problems(),
      ...clockWatch.problems(),
      ...source.problems(),
      ...ingester.problems(),
    ],
    notes: () => source.notes(),
    stop: async () => {
      await drain();
      await guard.close();
    },
  };
}

/** @throws OperatorError where a file was read to its end and none of its events counts. */
async function requireEvents({ source }: Config, metrics: Metrics): Promise<void> {
  const lines = (await metrics.eventsConsumed.get()).values[0]?.value ?? 0;
  const dropped = (await metrics.eventsDropped.get()).values.filter(({ value }) => value > 0);
  if (lines > dropped.reduce((sum, { value }) => sum + value, 0)) return;
  const name = source.type === 'file' ? source.path : 'standard input';
  const reasons = dropped.map(({ labels, value }) => `${labels.reason} ${value}`);
  throw withoutEvents(name, lines, reasons.join(', '));
}
