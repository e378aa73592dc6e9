import type { Cluster, PartitionAssigner } from 'kafkajs';

/**
 * Returns the assigner; it calls `onJoin` with the consumer's cluster when a join begins, as kafkajs then
 * asks for its protocol.
 *
 * @param prepareJoin is awaited before, while the member still has its partitions (prepare-join.ts).
 */
export function withOnJoin(
  assigner: PartitionAssigner,
  onJoin: (cluster: Cluster) => void,
  prepareJoin?: () => Promise<void>,
): PartitionAssigner {
  return (config) => {
    const inner = assigner(config);
    return {
      ...inner,
      ...(prepareJoin === undefined ? {} : { prepareJoin }),
      protocol: (subscription) => {
        onJoin(config.cluster);
        return inner.protocol(subscription);
      },
    };
  };
}
