import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { FindOrder } from './find-mutant.ts';

/** A seed whose run has problems, and the first of them. */
export interface Finding {
  readonly seed: number;
  readonly problem: string;
}

/** Limit for a run: a longer one spins, without an event and without end. */
const SPIN_MS = 60_000;

/**
 * Runs seeds in a separate process and returns those with problems.
 *
 * @param say receives every line of a verbose run
 */
export async function findSeeds(
  order: FindOrder,
  say: (line: string) => void,
): Promise<readonly Finding[]> {
  const file = fileURLToPath(new URL('./find-mutant.js', import.meta.url));
  const child = spawn(process.execPath, ['--enable-source-maps', file, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const found: Finding[] = [];
  let seed = -1;
  let isSpinning = false;
  const spins = () => {
    isSpinning = true;
    child.kill('SIGKILL');
  };
  let watchdog = setTimeout(spins, SPIN_MS);
  for await (const line of createInterface(child.stdout)) {
    const started = /^seed begins: (\d+)$/.exec(line)?.[1];
    if (started !== undefined) {
      seed = Number(started);
      clearTimeout(watchdog);
      watchdog = setTimeout(spins, SPIN_MS);
    } else if (line.startsWith('{"seed":')) found.push(JSON.parse(line));
    else say(line);
  }
  clearTimeout(watchdog);
  const code = await ended;
  if (isSpinning) return [...found, { seed, problem: `the run spins for ${SPIN_MS / 1000} s` }];
  if (code !== 0) throw new Error(`the run of seeds ended with ${code} at seed ${seed}`);
  return found;
}
