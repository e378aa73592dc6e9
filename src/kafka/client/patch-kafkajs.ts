import { createRequire } from 'node:module';
import { askOwnTopics } from '../patches/ask-own-topics.ts';
import { beatWhileFetching } from '../patches/beat-while-fetching.ts';
import { commitWithoutBatch } from '../patches/commit-without-batch.ts';
import { disconnectOnce } from '../patches/connection/disconnect-once.ts';
import { logInInTime } from '../patches/connection/log-in-in-time.ts';
import { seeSlowBrokers } from '../patches/connection/see-slow-brokers.ts';
import { endFetchLoops } from '../patches/end-fetch-loops.ts';
import { askLiveBrokers } from '../patches/group/ask-live-brokers.ts';
import { beatAfterClockChange } from '../patches/group/beat-after-clock-change.ts';
import { joinOnce } from '../patches/group/join-once.ts';
import { keepMember } from '../patches/group/keep-member.ts';
import { leaveOnUnknownCommit } from '../patches/group/leave-on-unknown-commit.ts';
import { prepareJoin } from '../patches/group/prepare-join.ts';
import { rejoinOnFailedJoin } from '../patches/group/rejoin-on-failed-join.ts';
import { rejoinOnLogChange } from '../patches/group/rejoin-on-log-change.ts';
import { retryCoordinatorSearch } from '../patches/group/retry-coordinator-search.ts';
import { identifyLogs } from '../patches/identify-logs.ts';
import { acceptLeaderless, readLedPartitions } from '../patches/read-led-partitions.ts';
import { retryTransactions } from '../patches/retry-transactions.ts';

/** kafkajs' internal classes, its requests, and its factory of sockets, by file. package.json pins the version, because other versions may differ. */
export function kafkajsInternals() {
  const load = createRequire(import.meta.url);
  return {
    Broker: load('kafkajs/src/broker/index.js'),
    BrokerPool: load('kafkajs/src/cluster/brokerPool.js'),
    Cluster: load('kafkajs/src/cluster/index.js'),
    Connection: load('kafkajs/src/network/connection.js'),
    ConsumerGroup: load('kafkajs/src/consumer/consumerGroup.js'),
    Decoder: load('kafkajs/src/protocol/decoder.js'),
    Authenticator: load('kafkajs/src/broker/saslAuthenticator/index.js'),
    Encoder: load('kafkajs/src/protocol/encoder.js'),
    OffsetManager: load('kafkajs/src/consumer/offsetManager/index.js'),
    RequestQueue: load('kafkajs/src/network/requestQueue/index.js'),
    Runner: load('kafkajs/src/consumer/runner.js'),
    requests: load('kafkajs/src/protocol/requests/index.js').requests,
    socketFactory: load('kafkajs/src/network/socketFactory.js'),
  };
}

/**
 * Applies the patches that every client needs, once per process. docs/reference/kafkajs-patches.md lists them with symptom
 * and test.
 *
 * @throws Error ("BUG: ...") where kafkajs lacks a method that a patch replaces.
 */
export function patchKafkajs(): void {
  const { Broker, Cluster, Connection, ConsumerGroup, Runner, ...internals } = kafkajsInternals();
  const { Authenticator, BrokerPool, Decoder, Encoder, OffsetManager, RequestQueue, requests } =
    internals;
  identifyLogs(Broker, { requests, Encoder, Decoder });
  askOwnTopics(Broker, { requests, Encoder });
  acceptLeaderless(Broker, { requests });
  readLedPartitions(BrokerPool, Cluster, OffsetManager);
  logInInTime(Connection, Authenticator);
  seeSlowBrokers(Connection, RequestQueue);
  disconnectOnce(Connection);
  endFetchLoops(Runner);
  beatWhileFetching(Runner);
  beatAfterClockChange(ConsumerGroup);
  // The order matters: each patch calls those before it.
  rejoinOnLogChange(ConsumerGroup);
  rejoinOnFailedJoin(ConsumerGroup);
  leaveOnUnknownCommit(ConsumerGroup);
  keepMember(ConsumerGroup, Runner);
  prepareJoin(ConsumerGroup);
  joinOnce(ConsumerGroup);
  commitWithoutBatch(ConsumerGroup);
  askLiveBrokers(BrokerPool);
  retryCoordinatorSearch(Cluster);
  retryTransactions(Broker);
}
