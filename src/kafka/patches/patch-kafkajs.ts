import { createRequire } from 'node:module';
import { endFetchLoops } from './end-fetch-loops.ts';
import { joinOnce } from './join-once.ts';
import { leaveOnUnknownCommit } from './leave-on-unknown-commit.ts';
import { rejoinOnFailedJoin } from './rejoin-on-failed-join.ts';
import { rejoinOnLogChange } from './rejoin-on-log-change.ts';
import { retryCoordinatorSearch } from './retry-coordinator-search.ts';

/** Classes of kafkajs' inside, by file. The version is pinned in package.json: another one may have others. */
export function kafkajsInternals() {
  const load = createRequire(import.meta.url);
  return {
    Broker: load('kafkajs/src/broker/index.js'),
    Cluster: load('kafkajs/src/cluster/index.js'),
    Connection: load('kafkajs/src/network/connection.js'),
    ConsumerGroup: load('kafkajs/src/consumer/consumerGroup.js'),
    Runner: load('kafkajs/src/consumer/runner.js'),
  };
}

/**
 * Applies the patches that every client needs, once in a process. docs/dependencies.md lists them with symptom and
 * test.
 *
 * @throws Error ("BUG: ...") where kafkajs lacks a method that a patch replaces.
 */
export function patchKafkajs(): void {
  const { Cluster, ConsumerGroup, Runner } = kafkajsInternals();
  endFetchLoops(Runner);
  // In this order: each calls the ones before it.
  rejoinOnLogChange(ConsumerGroup);
  rejoinOnFailedJoin(ConsumerGroup);
  leaveOnUnknownCommit(ConsumerGroup);
  joinOnce(ConsumerGroup);
  retryCoordinatorSearch(Cluster);
}
