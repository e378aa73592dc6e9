import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const runner = fileURLToPath(new URL('./run.js', import.meta.url));
const SEED_COUNT = 2_000;

interface Summary {
  readonly seedCount: number;
  readonly failed: readonly { readonly seed: number; readonly problem: string }[];
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

describe('npm run sim', () => {
  it('finds every window exact in thousands of runs', async () => {
    const { code, out } = await run('--seeds', `1..${SEED_COUNT}`, '--json');
    const { seedCount, failed } = JSON.parse(out) as Summary;
    const problems = failed.map(({ seed, problem }) => `${problem}: npm run sim -- --seed ${seed}`);
    expect(problems).toEqual([]);
    expect({ code, seedCount }).toEqual({ code: 0, seedCount: SEED_COUNT });
  });

  it('refuses unknown options with exit code 64', async () => {
    expect((await run('--seeds', '5..3')).code).toBe(64);
  });
});
