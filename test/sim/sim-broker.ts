import { BrokerApi } from './broker-api.ts';
import type { CallFate, Connection, Endpoint } from './endpoint.ts';
import type { FaultKind } from './fault-kinds.ts';
import type { KafkajsSandbox } from './kafkajs-sandbox.ts';
import type { KafkaNode, SimKafka } from './sim-kafka.ts';

/** The run whose brokers kafkajs uses at this moment: one at a time in a thread. */
export interface BrokerHost {
  clusters: readonly SimKafka[];
  sandbox: KafkajsSandbox;
}

const REQUEST_TIMEOUT_MS = 30_000;

interface PendingCall {
  reject(error: Error): void;
}

/**
 * Replaces kafkajs' `Broker`, the connection to one of them: same methods, same errors, with requests through
 * the simulated network to the simulated brokers.
 */
export function simBrokerClass(host: () => BrokerHost) {
  return class SimBroker extends BrokerApi implements Connection {
    readonly connectionPool: { host: string; port: number; clientId: string };
    readonly nodeId: number | undefined;
    readonly versions = {};
    readonly node: KafkaNode;
    readonly endpoint: Endpoint;
    override readonly kafka: SimKafka;
    readonly #pending = new Set<PendingCall>();
    #epoch = -1;
    #isSilent = false;

    constructor(options: {
      connectionPool: { host: string; port: number; clientId: string };
      nodeId?: number;
    }) {
      super();
      const { clusters } = host();
      this.connectionPool = options.connectionPool;
      this.nodeId = options.nodeId;
      const kafka = clusters.find(({ nodes }) =>
        nodes.some((node) => node.host === options.connectionPool.host),
      ) as SimKafka;
      this.kafka = kafka;
      this.node = kafka.nodeAt(options.connectionPool.host);
      this.endpoint = kafka.endpoints.get(options.connectionPool.clientId) as Endpoint;
    }

    protected override get sandbox(): KafkajsSandbox {
      return host().sandbox;
    }

    isConnected(): boolean {
      return this.#epoch === this.node.epoch && this.node.isUp;
    }

    async connect(): Promise<void> {
      if (this.isConnected()) return;
      const { endpoint, node } = this;
      const { scheduler } = endpoint.world;
      await new Promise<void>((resolve, reject) => {
        if (endpoint.isDead) return;
        scheduler.at(endpoint.latencyMs() + (endpoint.isCutOff ? 2_000 : 0), endpoint.owner, () => {
          if (!node.isUp || endpoint.isCutOff) {
            const { KafkaJSConnectionError } = this.sandbox.errors;
            const code = 'ECONNREFUSED';
            if (KafkaJSConnectionError === undefined) return;
            reject(new KafkaJSConnectionError('Connection error', { broker: node.host, code }));
            return;
          }
          this.#epoch = node.epoch;
          endpoint.connections.add(this);
          resolve();
        });
      });
    }

    async disconnect(): Promise<void> {
      this.fail();
    }

    heal(): void {
      if (this.#isSilent) this.fail();
    }

    fail(): void {
      this.#isSilent = false;
      this.#epoch = -1;
      this.endpoint.connections.delete(this);
      const { KafkaJSConnectionClosedError } = this.sandbox.errors;
      if (KafkaJSConnectionClosedError === undefined) return;
      const { host: name, port } = this.node;
      const error = () =>
        new KafkaJSConnectionClosedError('Closed connection', { host: name, port });
      for (const call of [...this.#pending]) call.reject(error());
    }

    protected override call<T>(
      name: string,
      effect: (answer: (given: { value: T } | { error: Error }) => void) => void,
    ): Promise<T> {
      const { endpoint, node } = this;
      const { scheduler, trace } = endpoint.world;
      return new Promise<T>((resolve, reject) => {
        if (endpoint.isDead) return;
        if (!this.isConnected()) {
          const { KafkaJSConnectionError } = this.sandbox.errors;
          if (KafkaJSConnectionError !== undefined)
            reject(new KafkaJSConnectionError('Not connected', { broker: node.host }));
          return;
        }
        const death = endpoint.drawDeath();
        if (death === 'before') return endpoint.die();
        const fate = this.#fateOf(name);
        const epoch = node.epoch;
        let isSettled = false;
        const settle = (delayMs: number, action: () => void) => {
          if (isSettled) return;
          isSettled = true;
          this.#pending.delete(pending);
          scheduler.at(delayMs, endpoint.owner, action);
        };
        const pending = {
          reject: (error: Error) => settle(endpoint.latencyMs(), () => reject(error)),
        };
        this.#pending.add(pending);
        if (fate.isLost) {
          this.#lose();
          return;
        }
        scheduler.at(endpoint.latencyMs() + fate.extraMs, undefined, () => {
          if (!node.isUp || node.epoch !== epoch) return;
          effect((given) => {
            if (name !== 'fetch' && name !== 'heartbeat') {
              const outcome = 'error' in given ? ` ${given.error.message}` : '';
              trace?.(
                endpoint.owner.name,
                `${name}${fate.isAnswerLost ? ' (answer lost)' : ''}${outcome}`,
              );
            }
            if (death === 'after') return endpoint.die();
            if (fate.isAnswerLost) return this.#lose();
            endpoint.drawStop();
            settle(endpoint.latencyMs(), () => {
              if ('value' in given) resolve(given.value);
              else reject(given.error);
            });
          });
        });
      });
    }

    /** Breaks the connection, or keeps it without responses until the client gives up. */
    #lose(): void {
      const { scheduler, random, faults } = this.endpoint.world;
      // A fate drawn before the last fault may happen after it: a stop must not wait for that.
      const breaks = random.chance(0.8) || !faults.isActive;
      if (!breaks) this.#isSilent = true;
      const delayMs = breaks ? random.unit() * 2_000 : REQUEST_TIMEOUT_MS;
      scheduler.at(delayMs, this.endpoint.owner, () => {
        if (breaks) this.fail();
        else this.#timeOut();
      });
    }

    #timeOut(): void {
      const { KafkaJSRequestTimeoutError } = this.sandbox.errors;
      if (KafkaJSRequestTimeoutError === undefined) return;
      for (const call of [...this.#pending]) {
        call.reject(new KafkaJSRequestTimeoutError('Request timed out', {}));
      }
    }

    #fateOf(name: string): CallFate {
      const { faults, random } = this.endpoint.world;
      const isCommit = name.startsWith('commit');
      const strikes = (commit: FaultKind, other: FaultKind, weight: number) =>
        isCommit ? faults.strikes(commit) : faults.strikes(other, weight);
      if (this.endpoint.isCutOff) return { isLost: true, isAnswerLost: false, extraMs: 0 };
      return {
        isLost: strikes('commit_lost', 'kafka_lost', 0.05),
        isAnswerLost: strikes('commit_answer_lost', 'kafka_answer_lost', 0.05),
        extraMs: strikes('commit_slow', 'kafka_slow', 0.1) ? 500 + random.unit() * 9_000 : 0,
      };
    }
  };
}
