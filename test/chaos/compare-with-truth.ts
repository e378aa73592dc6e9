import type { Verification } from '../../src/sink/verify.ts';
import { resolutions } from '../../src/sink/windows/read-tails.ts';
import { stageSums } from '../e2e/kit/stage-sums.ts';
import { startChild } from '../e2e/kit/start-child.ts';
import type { StageSums } from '../e2e/kit/truth.ts';
import type { ChaosSummary } from './chaos-summary.ts';
import type { ChaosWorld } from './chaos-world.ts';

type Comparison = Pick<ChaosSummary, 'differences' | 'compared' | 'verify'>;

/**
 * Compares every table and the ledger with the published events, and runs `tailmark verify`.
 *
 * @param ends messages in each partition
 */
export async function compareWithTruth(
  world: ChaosWorld,
  truth: StageSums,
  events: number,
  ends: readonly number[],
): Promise<Comparison> {
  const differences: string[] = [];
  let compared = 0;
  const compare = (what: string, stored: number | undefined, expected: number) => {
    compared++;
    if (stored === expected) return;
    differences.push(`${what}: ${stored ?? 'nothing'} instead of ${expected}`);
  };
  for (const resolution of resolutions) {
    const stored = await stageSums(world.ledger.client, resolution);
    for (const stage of new Set([...Object.keys(truth), ...Object.keys(stored)])) {
      const expected = truth[stage] ?? { requests: 0, sumUs: 0 };
      const place = `${stage} in latency_${resolution}`;
      compare(`requests of ${place}`, stored[stage]?.requests, expected.requests);
      compare(`microseconds of ${place}`, stored[stage]?.sumUs, expected.sumUs);
    }
  }
  compare('events in the ledger', await world.ledger.consumed(), events);
  const extents = new Map(
    (await world.ledger.extents())?.map((extent) => [extent.partition, extent]),
  );
  for (const [partition, end] of ends.entries()) {
    const extent = extents.get(partition);
    compare(`first offset of partition ${partition}`, extent?.first, 0);
    compare(`end of partition ${partition}`, extent?.end, end);
    compare(`records of partition ${partition}`, extent?.records, end);
  }
  return { differences, compared, verify: await runVerify(world.env) };
}

/** The command, as operators run it. */
export async function runVerify(
  env: Readonly<Record<string, string>>,
): Promise<ChaosSummary['verify']> {
  const child = startChild(['verify', '--json'], env);
  const exitCode = await child.exited;
  if (child.out() === '') {
    return { ok: false, problems: [`verify ended with ${exitCode}: ${child.err()}`] };
  }
  const { ok, checks, problems } = JSON.parse(child.out()) as Verification;
  return {
    ok: ok && exitCode === 0,
    problems: [
      ...checks.filter((check) => !check.ok).map(({ name, detail }) => `${name}: ${detail}`),
      ...problems.map((problem) => JSON.stringify(problem)),
    ],
  };
}
