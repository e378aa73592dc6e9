import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const runner = fileURLToPath(new URL('../../bench/run.js', import.meta.url));
/** Least cost of the straightforward way: full runs find some ten times (docs/explained/performance.md). */
const LEAST_RATIO = 2;

/** Runs a bench in a process of its own; returns its output, once it has succeeded. */
async function bench(...options: string[]): Promise<string> {
  const child = spawn(process.execPath, [runner, ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  let complaints = '';
  child.stdout.on('data', (bytes) => {
    printed += bytes;
  });
  child.stderr.on('data', (bytes) => {
    complaints += bytes;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect(code, `${printed}\n${complaints}`).toBe(0);
  return printed;
}

describe('npm run bench', () => {
  it('-- pipeline compares the stored data of each way, and finds tailmark ahead', async () => {
    const peers = 'tailmark,idiomatic TypeScript';
    const few = ['--events', '80000', '--rounds', '1', '--peers', peers];
    const printed = await bench('pipeline', ...few);
    const ratios = [
      ...printed.matchAll(/tailmark does ([\d.]+) \([\d.]+–[\d.]+\) times as many per CPU second/g),
    ];
    expect(
      ratios.map(([, ratio]) => Number(ratio) >= LEAST_RATIO),
      printed,
    ).toEqual([true, true]);
  });
});
