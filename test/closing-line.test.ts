import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../scripts/closing-line.js', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'tailmark-closing-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const testOf = (status: string) => ({ status });
/** A report of files, by the outcomes of their tests; a file may fail as a whole. */
function report(...files: { tests: string[]; status?: string }[]): string {
  const all = files.flatMap(({ tests }) => tests);
  const count = (outcome: string) => all.filter((each) => each === outcome).length;
  return JSON.stringify({
    numTotalTests: all.length,
    numPassedTests: count('passed'),
    numFailedTests: count('failed'),
    testResults: files.map(({ tests, status = 'passed' }, n) => ({
      ...{ name: `file ${n}`, status, message: 'no such module' },
      assertionResults: tests.map(testOf),
    })),
  });
}

/** Exit code and last line of the script over reports; undefined for one that was not written. */
function closed(...reports: (string | undefined)[]) {
  const paths = reports.map((text, n) => {
    const path = join(dir, `${n}.json`);
    rmSync(path, { force: true });
    if (text !== undefined) writeFileSync(path, text);
    return path;
  });
  const { status, stdout } = spawnSync(process.execPath, [script, ...paths], { encoding: 'utf8' });
  return [status, stdout.trim().split('\n').at(-1)];
}

const good = report({ tests: ['passed', 'passed'] }, { tests: ['passed'] });

describe('the closing line of CI', () => {
  it.each([
    ['is the sum of both runs', [good, good], [0, '6 passed, 0 failed']],
    [
      'counts failures, which the exit code of the run itself reports, and what was skipped',
      [good, report({ tests: ['passed', 'failed', 'skipped'], status: 'failed' })],
      [0, '4 passed, 1 failed, 1 skipped'],
    ],
    [
      'counts a file that cannot be loaded',
      [good, report({ tests: [], status: 'failed' }, { tests: ['passed'] })],
      [0, '4 passed, 1 failed'],
    ],
    ['fails where a run did not begin', [good, undefined], [1, '3 passed, 1 failed']],
    ['fails where a run crashed', ['{"numTotal', good], [1, '3 passed, 1 failed']],
    ['fails where a run has no tests', [good, report()], [1, '3 passed, 1 failed']],
  ])('%s', (_, reports, expected) => {
    expect(closed(...reports)).toEqual(expected);
  });
});
