import { type Clock, systemClock } from '../../base/clock.ts';
import { retry } from '../../base/retry.ts';
import { brokerErrorType } from '../errors/broker-error.ts';
import { type Patchable, patchOnce } from './patch-once.ts';

/** The used part of kafkajs' `Broker` (src/broker/index.js). */
interface Broker {
  addPartitionsToTxn(request: object): Promise<unknown>;
  addOffsetsToTxn(request: object): Promise<unknown>;
  endTxn(request: object): Promise<unknown>;
  txnOffsetCommit(request: object): Promise<unknown>;
}

const RETRY_MS = { firstMs: 20, longestMs: 1_000 };
/** The wait of all attempts: as long as a request may take. */
const MOST_WAIT_MS = 30_000;

/** Types that kafkajs 2.2.4 expects of errors of a commit of offsets, by those that it gives them. */
const expectedTypes: ReadonlyMap<string | undefined, string> = new Map([
  ['GROUP_LOAD_IN_PROGRESS', 'COORDINATOR_LOAD_IN_PROGRESS'],
  ['GROUP_COORDINATOR_NOT_AVAILABLE', 'COORDINATOR_NOT_AVAILABLE'],
  ['NOT_COORDINATOR_FOR_GROUP', 'NOT_COORDINATOR'],
]);

/**
 * Asks again where Kafka has not yet ended the transaction before (CONCURRENT_TRANSACTIONS). A commit responds
 * before its markers are in all partitions, so the next transaction may come too early. kafkajs 2.2.4 asks
 * again for partitions, but not for offsets or for an end. The refused request has changed nothing.
 *
 * It also lets kafkajs look for a group's new coordinator, and ask that one: kafkajs would, but calls the errors
 * by other names than it gives them.
 */
export function retryTransactions(broker: Patchable<Broker>, clock: Clock = systemClock): void {
  const early = ['addPartitionsToTxn', 'addOffsetsToTxn', 'endTxn'] as const;
  const methods = [...early, 'txnOffsetCommit'] as const;
  patchOnce(broker, 'retryTransactions', methods, (before) => {
    const retried = (name: (typeof early)[number]) =>
      async function (this: Broker, request: object): Promise<unknown> {
        const startedMs = clock.elapsedMs();
        // A response may be empty, which is no reason to ask again.
        const ask = async () => ({ response: await before[name].call(this, request) });
        const { response } = await retry(ask, {
          ...{ clock, ...RETRY_MS },
          onError: (error, waitMs) => {
            const isTooEarly = brokerErrorType(error) === 'CONCURRENT_TRANSACTIONS';
            if (!isTooEarly || clock.elapsedMs() - startedMs + waitMs > MOST_WAIT_MS) throw error;
          },
        });
        return response;
      };
    return {
      addPartitionsToTxn: retried('addPartitionsToTxn'),
      addOffsetsToTxn: retried('addOffsetsToTxn'),
      endTxn: retried('endTxn'),
      async txnOffsetCommit(this: Broker, request: object) {
        try {
          return await before.txnOffsetCommit.call(this, request);
        } catch (error) {
          const type = expectedTypes.get(brokerErrorType(error));
          throw error instanceof Error && type !== undefined
            ? Object.assign(error, { type })
            : error;
        }
      },
    };
  });
}
