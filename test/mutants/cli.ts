import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildMutants } from '../sim/mutants/build-mutants.ts';
import { mutants } from './mutants.ts';
import { type Failure, runTests } from './run-tests.ts';

// Run by run.js, from DIRECTORY/test/mutants in the repository.
const directory = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const root = join(directory, '..');
const say = (line: string) => process.stdout.write(`${line}\n`);
const progress = (line: string) => process.stderr.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    mutant: { type: 'string', multiple: true },
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

const foundBy = new Map<string, Failure>();
await forEach(chosen, async ({ name, tests }) => {
  const failure = await runTests(root, tests, name);
  if (failure !== undefined) foundBy.set(name, failure);
  progress(`${name}  ${failure === undefined ? 'SURVIVES' : failure.file}`);
});

const cell = (text: string) => text.replaceAll('|', '\\|');
say('| mutant | the bug | planted in | found by |');
say('|---|---|---|---|');
for (const { name, bug, file } of chosen) {
  const failure = foundBy.get(name);
  const found = failure === undefined ? '–' : `${failure.file}: ${cell(failure.test)}`;
  say(`| \`${name}\` | ${bug} | ${file} | ${found} |`);
}
say('');
say(`${foundBy.size} of ${chosen.length} mutants are found`);
process.exitCode = foundBy.size === chosen.length ? 0 : 1;
