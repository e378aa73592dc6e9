import { expect, it } from 'vitest';
import { askLiveBrokers } from '../../../../src/kafka/patches/group/ask-live-brokers.ts';

class BrokerPool {
  readonly brokers: Record<string, { name: string; isConnected(): boolean }>;
  readonly asked: string[] = [];
  constructor(states: Readonly<Record<string, 'up' | 'down' | 'new'>>) {
    this.brokers = Object.fromEntries(
      Object.entries(states).map(([name, state]) => [
        name,
        { name: state, isConnected: () => state === 'up' },
      ]),
    );
  }
  async findBroker({ nodeId }: { nodeId: string }) {
    const broker = this.brokers[nodeId];
    if (broker === undefined || broker.name === 'down') throw new Error(`${nodeId} is away`);
    return broker;
  }
  /** kafkajs' own: fails at the first that cannot be reached. */
  async withBroker<T>(
    ask: (of: { nodeId: string; broker: { isConnected(): boolean } }) => Promise<T>,
  ): Promise<T | null> {
    for (const nodeId of Object.keys(this.brokers)) {
      const broker = await this.findBroker({ nodeId });
      try {
        return await ask({ nodeId, broker });
      } catch {}
    }
    return null;
  }
}
askLiveBrokers(BrokerPool);

it('asks connected brokers first, then others, and passes over those that are away', async () => {
  const pool = new BrokerPool({ a: 'down', b: 'new', c: 'up' });
  const asked: string[] = [];
  const ask = async ({ nodeId }: { nodeId: string }) => {
    asked.push(nodeId);
    if (nodeId === 'c') throw new Error('it does not know');
    return nodeId;
  };
  expect(await pool.withBroker(ask)).toBe('b');
  expect(asked).toEqual(['c', 'b']);
});

it('fails as before where none can be reached, or none knows', async () => {
  const away = new BrokerPool({ a: 'down', b: 'down' });
  await expect(away.withBroker(async () => 1)).rejects.toThrow('a is away');
  const unknowing = new BrokerPool({ a: 'up' });
  expect(await unknowing.withBroker(() => Promise.reject(new Error('no')))).toBeNull();
});
