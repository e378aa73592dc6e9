import type { PartitionAssigner } from 'kafkajs';

/** Returns the assigner; it calls `onJoin` when a join begins, as kafkajs then asks for its protocol. */
export function withOnJoin(assigner: PartitionAssigner, onJoin: () => void): PartitionAssigner {
  return (config) => {
    const inner = assigner(config);
    return {
      ...inner,
      protocol: (subscription) => {
        onJoin();
        return inner.protocol(subscription);
      },
    };
  };
}
