import { type Patchable, patchOnce } from '../patch-once.ts';

/** The used part of kafkajs' `Cluster` (src/cluster/index.js). */
interface Cluster {
  findGroupCoordinatorMetadata(query: object): Promise<unknown>;
}

/**
 * Makes a consumer retry when it cannot find its group's coordinator. kafkajs 2.2.4 treats every such error
 * as fatal, even a connection that closes during the request. Without the patch, a broker restart would end
 * the process.
 */
export function retryCoordinatorSearch(cluster: Patchable<Cluster>): void {
  patchOnce(cluster, 'retryCoordinatorSearch', ['findGroupCoordinatorMetadata'], (before) => ({
    async findGroupCoordinatorMetadata(this: Cluster, query: object) {
      try {
        return await before.findGroupCoordinatorMetadata.call(this, query);
      } catch (error) {
        const isUnknown =
          error instanceof Error && error.name === 'KafkaJSGroupCoordinatorNotFound';
        if (isUnknown) Object.assign(error, { retriable: true });
        throw error;
      }
    },
  }));
}
