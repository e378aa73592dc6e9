import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { useStack } from '../containers/stack.ts';

const bin = fileURLToPath(new URL('../../bin/tailmark.js', import.meta.url));
const dirs: string[] = [];

afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

describe('tailmark demo --once', () => {
  // The demo starts its own servers; it is skipped where this machine cannot run them.
  const stack = useStack();

  it.runIf(stack.kind === 'local')(
    'finds the regression it injects, blames the stage, resolves, and exits 0',
    async () => {
      const dir = mkdtempSync(join(tmpdir(), 'tailmark-demo-'));
      dirs.push(dir);
      const args = [bin, 'demo', '--once', '--json', '--dir', dir];
      // With exit code 1 it prints the problem on standard output.
      const { stdout } = await promisify(execFile)(process.execPath, args).catch(
        (error: { readonly stdout: string }) => {
          if (error.stdout === '') throw error;
          return error;
        },
      );
      const outcome = JSON.parse(stdout);
      expect(outcome.problems).toEqual([]);
      expect(outcome.ok).toBe(true);
      expect(outcome.anomalies.length).toBeGreaterThanOrEqual(1);
      for (const anomaly of outcome.anomalies) {
        expect(anomaly).toMatchObject({
          model: 'ranker',
          region: 'eu-west-1',
          stage: 'features',
          state: 'resolved',
          resolution: 'recovered',
        });
      }
      const p99 = (rows: { stage: string; p99_ms: number }[]) =>
        rows.find(({ stage }) => stage === 'features')?.p99_ms ?? Number.NaN;
      expect(p99(outcome.during) / p99(outcome.before)).toBeGreaterThan(2);
      expect(p99(outcome.after) / p99(outcome.before)).toBeLessThan(1.3);
    },
  );
});
