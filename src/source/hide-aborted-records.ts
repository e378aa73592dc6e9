/** As much of a fetched record as tells whether it is to be seen; src/protocol/record in kafkajs. */
interface FetchedRecord {
  readonly offset: string;
  isControlRecord: boolean;
  readonly key: Buffer | null;
  readonly batchContext: { readonly producerId: string; readonly inTransaction: boolean };
}

interface AbortedTransaction {
  readonly producerId: string;
  readonly firstOffset: string;
}

interface FetchedPartition {
  abortedTransactions?: readonly AbortedTransaction[] | null;
  readonly messages: readonly FetchedRecord[];
}

interface FetchAnswer {
  readonly responses: readonly { readonly partitions: readonly FetchedPartition[] }[];
}

/** As much of kafkajs' `Broker` as is needed; src/broker/index.js there. */
interface Broker {
  fetch(request: unknown): Promise<FetchAnswer>;
}

const mended = new WeakSet<object>();

/**
 * Has no record of an aborted transaction handed over. kafkajs 2.2.4 (filterAbortedMessages.js)
 * takes the broker's list of aborted transactions in the order it comes in, one for each record it
 * passes. But the list is in the order in which they were aborted, not begun, and more than one may
 * have begun before the first record; and a record with the key 00 00 00 00 ends one for it. What
 * was aborted is then handed over or not, depending on where a fetch begins. Here the records of
 * aborted transactions are told before it looks, and given the mark of those that no reader sees.
 */
export function hideAbortedRecords(broker: { readonly prototype: Broker }): void {
  const { prototype } = broker;
  if (mended.has(prototype)) return;
  mended.add(prototype);
  const { fetch } = prototype;
  prototype.fetch = async function (this: Broker, request: unknown) {
    const answer = await fetch.call(this, request);
    for (const { partitions } of answer.responses) for (const each of partitions) hide(each);
    return answer;
  };
}

/** As Kafka's own consumer does it: from a transaction's first offset to its marker. */
function hide(partition: FetchedPartition): void {
  const { abortedTransactions, messages } = partition;
  if (!abortedTransactions?.length) return;
  const left = abortedTransactions
    .map(({ producerId, firstOffset }) => ({ producerId, firstOffset: Number(firstOffset) }))
    .sort((a, b) => a.firstOffset - b.firstOffset);
  const aborted = new Set<string>();
  let next = 0;
  for (const message of messages) {
    const offset = Number(message.offset);
    for (let each = left[next]; each !== undefined && each.firstOffset <= offset; ) {
      aborted.add(each.producerId);
      each = left[++next];
    }
    const { producerId, inTransaction } = message.batchContext;
    if (!inTransaction || !aborted.has(producerId)) continue;
    if (message.isControlRecord) aborted.delete(producerId);
    else message.isControlRecord = true;
  }
  partition.abortedTransactions = [];
}
