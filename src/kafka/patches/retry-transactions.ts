import { type Clock, systemClock } from '../../base/clock.ts';
import { brokerErrorType } from '../broker-error-type.ts';
import { type Patchable, patchOnce } from './patch-once.ts';

/** The used part of kafkajs' `Broker` (src/broker/index.js). */
interface Broker {
  addPartitionsToTxn(request: object): Promise<unknown>;
  addOffsetsToTxn(request: object): Promise<unknown>;
  endTxn(request: object): Promise<unknown>;
}

/** Waits between attempts: the first, and the longest. Each is twice the one before. */
const FIRST_WAIT_MS = 20;
const LONGEST_WAIT_MS = 1_000;
/** The wait of all attempts: as long as a request may take. */
const MOST_WAIT_MS = 30_000;

/**
 * Asks again where Kafka has not yet ended the transaction before (CONCURRENT_TRANSACTIONS). A commit responds
 * before its markers are in all partitions, so the next transaction may come too early. kafkajs 2.2.4 asks
 * again for partitions, but not for offsets or for an end. The refused request has changed nothing.
 */
export function retryTransactions(broker: Patchable<Broker>, clock: Clock = systemClock): void {
  const methods = ['addPartitionsToTxn', 'addOffsetsToTxn', 'endTxn'] as const;
  patchOnce(broker, 'retryTransactions', methods, (before) => {
    const retried = (name: (typeof methods)[number]) =>
      async function (this: Broker, request: object): Promise<unknown> {
        const startedMs = clock.elapsedMs();
        for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
          try {
            return await before[name].call(this, request);
          } catch (error) {
            const isTooEarly = brokerErrorType(error) === 'CONCURRENT_TRANSACTIONS';
            if (!isTooEarly || clock.elapsedMs() - startedMs + waitMs > MOST_WAIT_MS) throw error;
          }
          await clock.sleep(waitMs);
        }
      };
    return {
      addPartitionsToTxn: retried('addPartitionsToTxn'),
      addOffsetsToTxn: retried('addOffsetsToTxn'),
      endTxn: retried('endTxn'),
    };
  });
}
