import { createRequire } from 'node:module';
import { beatAfterClockChange } from './beat-after-clock-change.ts';
import { endFetchLoops } from './end-fetch-loops.ts';
import { identifyLogs } from './identify-logs.ts';
import { joinOnce } from './join-once.ts';
import { leaveOnUnknownCommit } from './leave-on-unknown-commit.ts';
import { rejoinOnFailedJoin } from './rejoin-on-failed-join.ts';
import { rejoinOnLogChange } from './rejoin-on-log-change.ts';
import { retryCoordinatorSearch } from './retry-coordinator-search.ts';
import { retryTransactions } from './retry-transactions.ts';

/** kafkajs' internal classes, its requests, and its factory of sockets, by file. package.json pins the version, because other versions may differ. */
export function kafkajsInternals() {
  const load = createRequire(import.meta.url);
  return {
    Broker: load('kafkajs/src/broker/index.js'),
    Cluster: load('kafkajs/src/cluster/index.js'),
    Connection: load('kafkajs/src/network/connection.js'),
    ConsumerGroup: load('kafkajs/src/consumer/consumerGroup.js'),
    Decoder: load('kafkajs/src/protocol/decoder.js'),
    Encoder: load('kafkajs/src/protocol/encoder.js'),
    Runner: load('kafkajs/src/consumer/runner.js'),
    requests: load('kafkajs/src/protocol/requests/index.js').requests,
    socketFactory: load('kafkajs/src/network/socketFactory.js'),
  };
}

/**
 * Applies the patches that every client needs, once per process. docs/reference/dependencies.md lists them with symptom
 * and test.
 *
 * @throws Error ("BUG: ...") where kafkajs lacks a method that a patch replaces.
 */
export function patchKafkajs(): void {
  const { Broker, Cluster, ConsumerGroup, Decoder, Encoder, Runner, requests } = kafkajsInternals();
  identifyLogs(Broker, { requests, Encoder, Decoder });
  endFetchLoops(Runner);
  beatAfterClockChange(ConsumerGroup);
  // The order matters: each patch calls those before it.
  rejoinOnLogChange(ConsumerGroup);
  rejoinOnFailedJoin(ConsumerGroup);
  leaveOnUnknownCommit(ConsumerGroup);
  joinOnce(ConsumerGroup);
  retryCoordinatorSearch(Cluster);
  retryTransactions(Broker);
}
