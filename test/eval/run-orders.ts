import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { SeriesOrder, SeriesOutcome } from './run-series.ts';

/** Runs every order over some threads; outcomes come as they end, and in order in the answer. */
export async function runOrders(
  orders: readonly SeriesOrder[],
  threads: number,
  onOutcome: (outcome: SeriesOutcome) => void = () => undefined,
): Promise<SeriesOutcome[]> {
  const outcomes: SeriesOutcome[] = [];
  let next = 0;
  const lane = async () => {
    const worker = new Worker(new URL('./worker.js', import.meta.url));
    try {
      while (next < orders.length) {
        const at = next++;
        worker.postMessage(orders[at]);
        const [outcome] = (await once(worker, 'message')) as [SeriesOutcome];
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
