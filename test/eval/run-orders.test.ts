import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runOrders } from './run-orders.ts';

interface Order {
  readonly n: number;
}

let dir: string;
let script: URL;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tailmark-orders-'));
  writeFileSync(
    join(dir, 'double.mjs'),
    `import { parentPort } from 'node:worker_threads';
     parentPort.on('message', ({ n }) => parentPort.postMessage({ twice: 2 * n }));`,
  );
  script = pathToFileURL(join(dir, 'double.mjs'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** The outcomes in order, and the number of computed ones. */
async function outcomesOf(orders: readonly Order[], keepIn?: string) {
  let computed = 0;
  const onOutcome = () => {
    computed++;
  };
  const outcomes = await runOrders<Order, unknown>(script, orders, {
    ...{ threads: 2, onOutcome, keepIn },
  });
  return { outcomes, computed };
}

it('returns outcomes in order, whichever ends first', async () => {
  const orders = [{ n: 3 }, { n: 1 }, { n: 2 }];
  const outcomes = [{ twice: 6 }, { twice: 2 }, { twice: 4 }];
  expect(await outcomesOf(orders)).toEqual({ outcomes, computed: 3 });
});

it('continues from the kept outcomes of an earlier run, whose last line is truncated', async () => {
  const kept = join(dir, 'kept.jsonl');
  expect(await outcomesOf([{ n: 1 }], kept)).toEqual({ outcomes: [{ twice: 2 }], computed: 1 });
  appendFileSync(kept, '{"order":{"n":2},"outc');
  const orders = [{ n: 1 }, { n: 2 }];
  const outcomes = [{ twice: 2 }, { twice: 4 }];
  expect(await outcomesOf(orders, kept)).toEqual({ outcomes, computed: 1 });
  expect(await outcomesOf(orders, kept)).toEqual({ outcomes, computed: 0 });
  expect(readFileSync(kept, 'utf8').trim().split('\n')).toHaveLength(2);
});
