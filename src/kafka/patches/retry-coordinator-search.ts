import { type Patchable, patchOnce } from './patch-once.ts';

/** As much of kafkajs' `Cluster` as is needed; src/cluster/index.js there. */
interface Cluster {
  findGroupCoordinatorMetadata(query: object): Promise<unknown>;
}

/**
 * Has a consumer begin again where no broker has told it who coordinates its group. kafkajs 2.2.4
 * takes that for an error for good whatever its reason is, and one connection that closes while the
 * question is on its way is reason enough: a broker that goes or comes would end the process.
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
