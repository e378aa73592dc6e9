import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { compileFunction } from 'node:vm';
import type { Kafka, KafkaConfig } from 'kafkajs';
import { beatWhileFetching } from '../../src/kafka/patches/beat-while-fetching.ts';
import { commitWithoutBatch } from '../../src/kafka/patches/commit-without-batch.ts';
import { endFetchLoops } from '../../src/kafka/patches/end-fetch-loops.ts';
import { askLiveBrokers } from '../../src/kafka/patches/group/ask-live-brokers.ts';
import { beatAfterClockChange } from '../../src/kafka/patches/group/beat-after-clock-change.ts';
import { joinOnce } from '../../src/kafka/patches/group/join-once.ts';
import { keepMember } from '../../src/kafka/patches/group/keep-member.ts';
import { leaveOnUnknownCommit } from '../../src/kafka/patches/group/leave-on-unknown-commit.ts';
import { prepareJoin } from '../../src/kafka/patches/group/prepare-join.ts';
import { rejoinOnFailedJoin } from '../../src/kafka/patches/group/rejoin-on-failed-join.ts';
import { rejoinOnLogChange } from '../../src/kafka/patches/group/rejoin-on-log-change.ts';
import { retryCoordinatorSearch } from '../../src/kafka/patches/group/retry-coordinator-search.ts';
import { readLedPartitions } from '../../src/kafka/patches/read-led-partitions.ts';

/** Functions of the machine that kafkajs calls. */
export interface SandboxTime {
  nowMs(): number;
  random(): number;
  setTimeout(action: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

/** kafkajs' own client code, without sockets. */
export interface KafkajsSandbox {
  readonly Kafka: new (config: KafkaConfig) => Kafka;
  /** Returns the error of a broker's response with this name. */
  protocolError(type: string): Error;
  /** Errors by class name, as kafkajs' own code makes them. */
  readonly errors: Readonly<Record<string, new (...args: unknown[]) => Error>>;
  readonly decodeAssignment: (bytes: Buffer) => unknown;
}

/** A replacement of kafkajs' `Broker`. */
export type BrokerClass = new (options: {
  connectionPool: { host: string; port: number; clientId: string };
  nodeId?: number;
}) => object;

interface ProtocolErrors {
  readonly errorCodes: readonly { readonly type: string; readonly code: number }[];
  createErrorFromCode(code: number): Error;
}

/**
 * Loads kafkajs' real consumer, admin client, cluster, broker pool and retries under another clock, with a
 * replacement of the socket connection to a broker. So kafkajs' decisions are those of production.
 */
export function loadKafkajs(time: SandboxTime, brokerClass: BrokerClass): KafkajsSandbox {
  const require = createRequire(import.meta.url);
  const root = join(dirname(require.resolve('kafkajs/package.json')), 'src');
  const cache = new Map<string, { exports: unknown }>();
  class VirtualDate extends Date {
    static override now(): number {
      return time.nowMs();
    }
  }
  const virtualMath = Object.create(Math, { random: { value: () => time.random() } });
  const replaced = new Map<string, unknown>([
    [join(root, 'broker/index.js'), brokerClass],
    [join(root, 'cluster/connectionPoolBuilder.js'), poolBuilder],
    [join(root, 'producer/index.js'), () => undefined],
    [join(root, 'network/socketFactory.js'), () => undefined],
  ]);
  const load = (path: string): unknown => {
    const known = cache.get(path);
    if (known !== undefined) return known.exports;
    const module = { exports: replaced.get(path) ?? {} };
    cache.set(path, module);
    if (replaced.has(path)) return module.exports;
    if (path.endsWith('.json')) {
      module.exports = JSON.parse(readFileSync(path, 'utf8'));
      return module.exports;
    }
    const names = ['module', 'exports', 'require', 'Date', 'Math', 'setTimeout', 'clearTimeout'];
    const run = compileFunction(readFileSync(path, 'utf8'), names, { filename: path });
    const inner = createRequire(path);
    const requireFrom = (name: string) =>
      name.startsWith('.') ? load(inner.resolve(name)) : require(name);
    const { setTimeout, clearTimeout } = time;
    run(module, module.exports, requireFrom, VirtualDate, virtualMath, setTimeout, clearTimeout);
    return module.exports;
  };
  const { errorCodes, createErrorFromCode } = load(
    join(root, 'protocol/error.js'),
  ) as ProtocolErrors;
  const codes = new Map(errorCodes.map(({ type, code }) => [type, code]));
  const { MemberAssignment } = load(join(root, 'consumer/assignerProtocol.js')) as {
    MemberAssignment: { decode: (bytes: Buffer) => unknown };
  };
  const runner = load(join(root, 'consumer/runner.js'));
  endFetchLoops(runner as Parameters<typeof endFetchLoops>[0]);
  beatWhileFetching(runner as Parameters<typeof beatWhileFetching>[0], { sleep: sleepIn(time) });
  const group = load(join(root, 'consumer/consumerGroup.js'));
  beatAfterClockChange(group as Parameters<typeof beatAfterClockChange>[0], time.nowMs);
  rejoinOnLogChange(group as Parameters<typeof rejoinOnLogChange>[0]);
  rejoinOnFailedJoin(group as Parameters<typeof rejoinOnFailedJoin>[0]);
  leaveOnUnknownCommit(group as Parameters<typeof leaveOnUnknownCommit>[0]);
  const clock = { elapsedMs: time.nowMs, sleep: sleepIn(time) };
  keepMember(
    group as Parameters<typeof keepMember>[0],
    runner as Parameters<typeof keepMember>[1],
    clock,
  );
  prepareJoin(group as Parameters<typeof prepareJoin>[0]);
  joinOnce(group as Parameters<typeof joinOnce>[0]);
  commitWithoutBatch(group as Parameters<typeof commitWithoutBatch>[0]);
  const pool = load(join(root, 'cluster/brokerPool.js'));
  askLiveBrokers(pool as Parameters<typeof askLiveBrokers>[0]);
  const cluster = load(join(root, 'cluster/index.js'));
  readLedPartitions(
    pool as Parameters<typeof readLedPartitions>[0],
    cluster as Parameters<typeof readLedPartitions>[1],
    load(join(root, 'consumer/offsetManager/index.js')) as Parameters<typeof readLedPartitions>[2],
  );
  retryCoordinatorSearch(cluster as Parameters<typeof retryCoordinatorSearch>[0]);
  return {
    Kafka: load(join(root, 'index.js')) as KafkajsSandbox['Kafka'],
    errors: load(join(root, 'errors.js')) as KafkajsSandbox['errors'],
    protocolError: (type) => createErrorFromCode(codes.get(type) ?? -1),
    decodeAssignment: (bytes) => MemberAssignment.decode(bytes),
  };
}

function sleepIn(time: SandboxTime) {
  return (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      const end = () => {
        time.clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = time.setTimeout(end, ms);
      signal?.addEventListener('abort', end);
    });
}

/** Replaces kafkajs' pool of connections: it only names the broker and the client. */
function poolBuilder(options: { brokers: readonly string[]; clientId: string }) {
  let next = 0;
  return {
    build: async (node?: { host: string; port: number }) => {
      if (node !== undefined) return { ...node, clientId: options.clientId };
      const [host = '', port = '0'] = (
        options.brokers[next++ % options.brokers.length] ?? ''
      ).split(':');
      return { host, port: Number(port), clientId: options.clientId };
    },
  };
}
