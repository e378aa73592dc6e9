import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildMutants } from '../sim/mutants/build-mutants.ts';
import { mutants } from './mutants.ts';
import { runTests } from './run-tests.ts';

// Run by run.js, from DIRECTORY/test/mutants in the repository.
const directory = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const root = join(directory, '..');
const say = (line: string) => process.stdout.write(`${line}\n`);
const progress = (line: string) => process.stderr.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    mutant: { type: 'string', multiple: true },
    merge: { type: 'string' },
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
});
const chosen = mutants.filter(({ name }) => values.mutant?.includes(name) ?? true);
if (chosen.length === 0) {
  process.stderr.write(`There is no mutant ${values.mutant}.\n`);
  process.exit(64);
}

/** Does something for each, so many at once. */
async function forEach<T>(items: readonly T[], action: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const work = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await action(item);
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
}

/** A mutant that does not compile is none. */
buildMutants(root, directory, chosen);

const files = [...new Set(chosen.flatMap(({ tests }) => tests))].sort();
progress(`without a mutant: ${files.length} files of tests`);
const broken = await runTests(root, files, undefined);
if (broken !== undefined) {
  progress(`${broken.file}: ${broken.test} fails without any mutant`);
  process.exit(1);
}

const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' });
const commit = git('rev-parse', '--short', 'HEAD').trim();
const cell = (text: string) => text.replaceAll('|', '\\|');

/** Rows by the name of their mutant, those that were recorded before as well; undefined found nothing. */
const rows = new Map<string, string>(
  values.merge === undefined || !existsSync(values.merge)
    ? []
    : [...readFileSync(values.merge, 'utf8').matchAll(/^\| `([\w-]+)` \|.*$/gm)].map(
        ([row, name = '']) => [name, row],
      ),
);
let survivors = 0;
await forEach(chosen, async ({ name, bug, file, tests }) => {
  const failure = await runTests(root, tests, name);
  if (failure === undefined) survivors += 1;
  progress(`${name}  ${failure === undefined ? 'SURVIVES' : failure.file}`);
  const found = failure === undefined ? '–' : `${failure.file}: ${cell(failure.test)}`;
  rows.set(name, `| \`${name}\` | ${bug} | ${file} | ${found} | ${commit} |`);
});

say('| mutant | the bug | planted in | found by | commit |');
say('|---|---|---|---|---|');
const known = mutants.flatMap(({ name }) => rows.get(name) ?? []);
for (const row of known) say(row);
say('');
const found = known.filter((row) => !row.includes(' | – | ')).length;
say(`${found} of ${known.length} mutants are found`);
process.exitCode = survivors === 0 ? 0 : 1;
