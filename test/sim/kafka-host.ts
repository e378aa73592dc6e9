import type { Consumer, Kafka } from 'kafkajs';
import kafkajs from 'kafkajs';
import { loadKafkajs } from './kafkajs-sandbox.ts';
import type { Owner } from './scheduler.ts';
import { simBrokerClass } from './sim-broker.ts';
import type { SimKafka } from './sim-kafka.ts';
import type { SimWorld } from './sim-world.ts';

interface Run {
  readonly clusters: readonly SimKafka[];
  readonly world: SimWorld;
}

let run: Run | undefined;

function current(): Run {
  if (run === undefined) throw new Error('kafkajs is asked outside a run');
  return run;
}

/** Owner of the timer: the process whose code runs at this moment. */
function owner(): Owner {
  const { scheduler } = current().world;
  if (scheduler.current === undefined) throw new Error('kafkajs runs outside a process');
  return scheduler.current;
}

const sandbox = loadKafkajs(
  {
    nowMs: () => {
      const { world, clusters } = current();
      const { current: who } = world.scheduler;
      const endpoints = clusters.map(({ endpoints }) => endpoints.get(who?.name ?? ''));
      const process = endpoints.find((endpoint) => endpoint !== undefined)?.owner;
      const wallMs = process !== undefined && 'wallMs' in process ? Number(process.wallMs) : 0;
      return wallMs === 0 ? world.epochMs + Math.floor(world.scheduler.nowMs) : wallMs;
    },
    random: () => current().world.random.unit(),
    setTimeout: (action, ms) => current().world.scheduler.at(Number(ms) || 0, owner(), action),
    clearTimeout: (timer) => {
      if (typeof timer === 'object' && timer !== null) Reflect.set(timer, 'isCancelled', true);
    },
  },
  simBrokerClass(() => ({ clusters: current().clusters, sandbox })),
);

/** More than a member has partitions: any number would do, and each fetch wakes all of them. */
const WORKERS = 8;

function withFewWorkers(consumer: Consumer): Consumer {
  const { run } = consumer;
  return {
    ...consumer,
    run: (config) => run({ ...config, partitionsConsumedConcurrently: WORKERS }),
  };
}

/** kafkajs in the simulation: loaded once, for one run after another. */
export const KafkaHost = {
  enter(next: Run): void {
    run = next;
  },

  /** A client of a cluster as src/kafka/client/kafka-client.ts configures it. */
  client(clientId: string, kafka: SimKafka): Kafka {
    const client = new sandbox.Kafka({
      clientId,
      brokers: kafka.nodes.map(({ host, port }) => `${host}:${port}`),
      connectionTimeout: 3_000,
      requestTimeout: 30_000,
      retry: { initialRetryTime: 100, maxRetryTime: 5_000, retries: 5 },
      logLevel: kafkajs.logLevel.NOTHING,
      logCreator: () => () => undefined,
    });
    const consumer = client.consumer.bind(client);
    client.consumer = (config) => withFewWorkers(consumer(config));
    return client;
  },
};
