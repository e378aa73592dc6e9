// node scripts/closing-line.js REPORT…: prints each failed test of several runs of vitest, and
// "N passed, N failed", from their JSON reports. Exits with 1 where a run has no report, as it did not come
// to its end, or has run no test.

import { readFileSync } from 'node:fs';

const say = (text) => process.stdout.write(`[ci] ${text}\n`);
const sum = { passed: 0, failed: 0, skipped: 0 };
for (const path of process.argv.slice(2)) {
  const counts = countsOf(path);
  if (counts === undefined || counts.passed + counts.failed === 0) {
    say(
      `${path}: ${counts ? 'no test has run' : 'the tests did not begin, or did not come to their end'}`,
    );
    sum.failed += 1;
    process.exitCode = 1;
  }
  for (const [kind, count] of Object.entries(counts ?? {})) sum[kind] += count;
}
const { passed, failed, skipped } = sum;
process.stdout.write(
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
);

/** Undefined where there is no report. */
function countsOf(path) {
  let report;
  try {
    report = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
  const { numPassedTests: passed, numFailedTests, numTotalTests, testResults } = report;
  // A file that cannot be loaded, or whose hooks fail, fails without a test of its own that does.
  const broken = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  );
  for (const { name, message } of broken) say(`${name} failed as a whole: ${message}`);
  for (const { name, assertionResults } of testResults) {
    for (const { status, fullName, failureMessages } of assertionResults) {
      if (status === 'failed') say(`failed: ${name}: ${fullName}\n${failureMessages.join('\n')}`);
    }
  }
  return {
    passed,
    failed: numFailedTests + broken.length,
    skipped: numTotalTests - passed - numFailedTests,
  };
}
