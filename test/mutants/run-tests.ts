import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** A run that takes longer spins: the slowest file takes minutes where many want the processor. */
const SPIN_MS = 590_000;

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** The first test that fails, and its file; of a file that cannot be run, why. */
export interface Failure {
  readonly file: string;
  readonly test: string;
}

/**
 * Runs test files in a process of their own, up to the first test that fails.
 *
 * @param root the repository.
 * @param mutant name of the one that is planted; undefined for the code as it is.
 * @returns undefined where all pass.
 */
export async function runTests(
  root: string,
  files: readonly string[],
  mutant: string | undefined,
): Promise<Failure | undefined> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const options = ['run', '--config', join(root, 'test/mutants/vitest.config.ts')];
  const planted = mutant === undefined ? {} : { TAILMARK_PLANTED_MUTANT: mutant };
  const child = spawn(process.execPath, [vitest, ...options, '--reporter=json', ...files], {
    cwd: root,
    env: { ...process.env, ...planted },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  let isSpinning = false;
  const watchdog = setTimeout(() => {
    isSpinning = true;
    child.kill('SIGKILL');
  }, SPIN_MS);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearTimeout(watchdog);
  if (isSpinning) return { file: files.join(', '), test: `no end within ${SPIN_MS / 1000} s` };
  if (code === 0) return undefined;
  const json = out.slice(out.indexOf('{"'));
  if (json === '') throw new Error(`vitest ended with ${code}: ${err.slice(-2_000)}`);
  const failed = (JSON.parse(json) as Report).testResults.find(({ status }) => status === 'failed');
  if (failed === undefined) throw new Error(`vitest ended with ${code}: ${err.slice(-2_000)}`);
  const test = failed.assertionResults.find(({ status }) => status === 'failed')?.fullName;
  const file = failed.name.replace(`${root}/`, '').replace(root, '');
  return { file, test: test ?? failed.message.split('\n', 1)[0] ?? '' };
}
