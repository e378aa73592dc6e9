import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../scripts/closing-line.js', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'tailmark-closing-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const testOf = (status: string) => ({
  ...{ status, fullName: `a test that ${status}` },
  failureMessages: status === 'failed' ? ['expected 1 to be 2'] : [],
});
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

/** Exit code and lines of the script over reports; undefined for one that was not written. */
function closed(...reports: (string | undefined)[]) {
  const paths = reports.map((text, n) => {
    const path = join(dir, `${n}.json`);
    rmSync(path, { force: true });
    if (text !== undefined) writeFileSync(path, text);
    return path;
  });
  const { status, stdout } = spawnSync(process.execPath, [script, ...paths], { encoding: 'utf8' });
  return { status, lines: stdout.trim().split('\n') };
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
    const { status, lines } = closed(...reports);
    expect([status, lines.at(-1)]).toEqual(expected);
  });

  it('comes after what failed, by file and test, as logs are read from their end', () => {
    const failed = report({ tests: ['passed'] }, { tests: ['failed', 'passed'], status: 'failed' });
    expect(closed(failed, good).lines).toEqual([
      '[ci] failed: file 1: a test that failed',
      'expected 1 to be 2',
      '5 passed, 1 failed',
    ]);
  });
});
