import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type FaultKind, faultKinds } from './fault-kinds.ts';
import { simulate } from './simulate.ts';

/** Enough for every kind of fault to occur. sim.slow.test.ts has more. */
const SEED_COUNT = 60;

async function tracedHash(seed: number): Promise<string> {
  const hash = createHash('sha256');
  await simulate(seed, { trace: (line) => hash.update(`${line}\n`) });
  return hash.digest('hex');
}

describe('the simulator', () => {
  it('finds every window exact in runs in which every kind of fault occurs', async () => {
    const problems: string[] = [];
    const missing = new Set(Object.keys(faultKinds) as FaultKind[]);
    for (let seed = 1; seed <= SEED_COUNT; seed++) {
      const result = await simulate(seed);
      problems.push(...result.problems.map((text) => `${text}: npm run sim -- --seed ${seed}`));
      for (const [kind, times] of result.faults) if (times > 0) missing.delete(kind);
    }
    expect(problems).toEqual([]);
    expect([...missing]).toEqual([]);
  });

  it('reads again what was skipped in a log that was truncated since', async () => {
    // An aborted transaction is skipped without a word; then another leader fills its offsets (seed of 47,500).
    expect((await simulate(37_285)).problems).toEqual([]);
  });

  it('does not send again what no table lacks', async () => {
    // While it is on its way, tens of chunks come, and the server forgets its token (seed of 100,000).
    expect((await simulate(28_547)).problems).toEqual([]);
  });

  it('lets a server without tokens keep a ledger row twice that landed after a look for it', async () => {
    expect((await simulate(15_815)).problems).toEqual([]);
  });

  it('gives the same run for the same seed, whatever ran before it', async () => {
    const first = await tracedHash(41);
    const other = await tracedHash(42);
    expect(other).not.toBe(first);
    expect(await tracedHash(41)).toBe(first);
  });
});
