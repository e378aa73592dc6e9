import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { OperatorError } from '../../src/base/operator-error.ts';
import type { ChaosSummary } from '../chaos/chaos-summary.ts';
import { faultKinds } from '../chaos/fault-kinds.ts';
import { runChaos } from '../chaos/run-chaos.ts';

const lacking = new Set(['TAILMARK_LOCAL_JAVA_MISSING', 'TAILMARK_LOCAL_ENGINE_MISSING']);

// An orderly restart replaces both of the broker's: kill -9 of it is in outage.slow.test.ts.
const kinds = faultKinds.filter((kind) => kind !== 'kill-broker');

/** One fault of each of them; skipped where the machine cannot run servers. */
async function shortRun(skip: (why: string) => never): Promise<ChaosSummary> {
  try {
    return await runChaos({
      seed: 'short',
      cycles: kinds.length,
      kinds,
      events: 100_000,
      eventsPerMessage: 10,
      partitions: 4,
      sessionTimeoutMs: 6_000,
      dir: mkdtempSync(join(tmpdir(), 'tailmark-chaos-')),
      signal: new AbortController().signal,
      say: (line) => process.stderr.write(`[chaos] ${line}\n`),
      onFailure: (logs) => {
        for (const { pid, text } of logs) {
          process.stderr.write(`process ${pid}: ${text.slice(-2_000)}\n`);
        }
      },
    });
  } catch (error) {
    if (!(error instanceof OperatorError) || !lacking.has(error.code)) throw error;
    return skip(error.message);
  }
}

it('every event counts once, for any faults in any order', async (context) => {
  const summary = await shortRun((why) => context.skip(why));
  expect(summary).toMatchObject({
    seed: 'short',
    cycles: {
      'kill-ingester': 1,
      'pause-ingester': 1,
      'kill-clickhouse': 1,
      'stall-clickhouse': 1,
      'swallow-answers': 1,
      'cut-connections': 1,
      'delay-connections': 1,
      'kill-broker': 0,
      'restart-broker': 1,
      'scale-1-4-2': 1,
      'rolling-restart': 1,
    },
    events: 100_000,
    messages: 10_000,
    // Nine stages with count and sum in four tables, three offsets of four partitions, the ledger.
    compared: 85,
    differences: [],
    verify: { ok: true, problems: [] },
    zombiesResumed: 1,
  });
  // The faults have hit work in progress.
  expect(summary.takeoverMs.length).toBeGreaterThan(0);
  expect(summary.requestsHit).toBeGreaterThan(0);
  expect(summary.drains.length).toBeGreaterThanOrEqual(7);
});
