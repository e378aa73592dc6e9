import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

export interface OrdersOptions<Outcome> {
  readonly threads: number;
  readonly onOutcome?: ((outcome: Outcome) => void) | undefined;
  /**
   * A file that keeps each outcome as it comes, a line each. Orders with a kept outcome are not run again, so
   * that an aborted run can continue. It must be of the same code.
   */
  readonly keepIn?: string | undefined;
}

/**
 * Runs every order over some threads; returns the outcomes in order.
 *
 * @param script responds to each order with its outcome
 */
export async function runOrders<Order, Outcome>(
  script: URL,
  orders: readonly Order[],
  { threads, onOutcome, keepIn }: OrdersOptions<Outcome>,
): Promise<Outcome[]> {
  const kept = keepIn === undefined ? new Map<string, Outcome>() : outcomesIn<Outcome>(keepIn);
  const outcomes = orders.map((order) => kept.get(JSON.stringify(order)));
  let next = 0;
  const lane = async () => {
    const worker = new Worker(script);
    try {
      while (next < orders.length) {
        const at = next++;
        if (outcomes[at] !== undefined) continue;
        worker.postMessage(orders[at]);
        const [outcome] = (await once(worker, 'message')) as [Outcome];
        outcomes[at] = outcome;
        if (keepIn !== undefined) appendFileSync(keepIn, lineOf(orders[at], outcome));
        onOutcome?.(outcome);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, orders.length) }, lane));
  return outcomes as Outcome[];
}

function lineOf(order: unknown, outcome: unknown): string {
  return `${JSON.stringify({ order, outcome })}\n`;
}

/** Reads kept outcomes by their order, as JSON. A truncated last line is removed. */
function outcomesIn<Outcome>(path: string): Map<string, Outcome> {
  if (!existsSync(path)) return new Map();
  const text = readFileSync(path, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole !== text) writeFileSync(path, whole);
  const lines = whole.split('\n').slice(0, -1);
  const parsed = lines.map((line) => JSON.parse(line) as { order: unknown; outcome: Outcome });
  return new Map(parsed.map(({ order, outcome }) => [JSON.stringify(order), outcome]));
}
