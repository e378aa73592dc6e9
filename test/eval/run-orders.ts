import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * Runs every order over some threads; outcomes come as they end, and in order in the answer.
 *
 * @param script answers each order that it is sent with its outcome.
 */
export async function runOrders<Order, Outcome>(
  script: URL,
  orders: readonly Order[],
  threads: number,
  onOutcome: (outcome: Outcome) => void = () => undefined,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let next = 0;
  const lane = async () => {
    const worker = new Worker(script);
    try {
      while (next < orders.length) {
        const at = next++;
        worker.postMessage(orders[at]);
        const [outcome] = (await once(worker, 'message')) as [Outcome];
        outcomes[at] = outcome;
        onOutcome(outcome);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, orders.length) }, lane));
  return outcomes;
}
