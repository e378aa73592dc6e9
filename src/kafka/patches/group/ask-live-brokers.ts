import { type Patchable, patchOnce } from '../patch-once.ts';

interface Broker {
  isConnected(): boolean;
}

/** The used part of kafkajs' `BrokerPool` (src/cluster/brokerPool.js). */
interface BrokerPool {
  readonly brokers: Readonly<Record<string, Broker>>;
  findBroker(query: { nodeId: string }): Promise<Broker>;
  withBroker<T>(ask: (of: { nodeId: string; broker: Broker }) => Promise<T>): Promise<T | null>;
}

/**
 * Asks another broker where one cannot be reached. kafkajs 2.2.4 (brokerPool.js, `withBroker`) goes on after an
 * error of a response only. So a request that any broker could answer fails while one is away.
 */
export function askLiveBrokers(pool: Patchable<BrokerPool>): void {
  patchOnce(pool, 'askLiveBrokers', ['withBroker'], ({ withBroker }) => ({
    async withBroker<T>(
      this: BrokerPool,
      ask: (of: { nodeId: string; broker: Broker }) => Promise<T>,
    ): Promise<T | null> {
      const nodeIds = Object.keys(this.brokers);
      const connected = nodeIds.filter((nodeId) => this.brokers[nodeId]?.isConnected());
      const others = nodeIds.filter((nodeId) => !connected.includes(nodeId));
      for (const nodeId of [...connected, ...others]) {
        try {
          return await ask({ nodeId, broker: await this.findBroker({ nodeId }) });
        } catch {
          // The next one may know.
        }
      }
      // Its errors are those that callers know.
      return withBroker.call(this, ask) as Promise<T | null>;
    },
  }));
}
