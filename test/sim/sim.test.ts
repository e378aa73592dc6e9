import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type FaultKind, faultKinds } from './fault-kinds.ts';
import { simulate } from './simulate.ts';

const runner = fileURLToPath(new URL('./run.js', import.meta.url));
/** Enough for every kind of fault to occur, and few enough for every run of the tests. */
const SEED_COUNT = 300;

interface Summary {
  readonly seedCount: number;
  readonly failed: readonly { readonly seed: number; readonly problem: string }[];
  readonly faults: Readonly<Record<FaultKind, { readonly times: number }>>;
}

/** Runs `npm run sim -- ARGS`; returns exit code and standard output. */
function run(...args: string[]): Promise<{ readonly code: number | null; readonly out: string }> {
  const child = spawn(process.execPath, [runner, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  let out = '';
  child.stdout.on('data', (bytes) => {
    out += bytes;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out }));
  });
}

async function tracedHash(seed: number): Promise<string> {
  const hash = createHash('sha256');
  await simulate(seed, { trace: (line) => hash.update(`${line}\n`) });
  return hash.digest('hex');
}

describe('the simulator', () => {
  it('finds every window exact in hundreds of runs in which every kind of fault occurs', async () => {
    const { code, out } = await run('--seeds', `1..${SEED_COUNT}`, '--json');
    const { seedCount, failed, faults } = JSON.parse(out) as Summary;
    const problems = failed.map(({ seed, problem }) => `${problem}: npm run sim -- --seed ${seed}`);
    expect(problems).toEqual([]);
    const missing = (Object.keys(faultKinds) as FaultKind[]).filter(
      (kind) => (faults[kind]?.times ?? 0) === 0,
    );
    expect(missing).toEqual([]);
    expect({ code, seedCount }).toEqual({ code: 0, seedCount: SEED_COUNT });
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

  it('refuses unknown options with exit code 64', async () => {
    expect((await run('--seeds', '5..3')).code).toBe(64);
  });
});
