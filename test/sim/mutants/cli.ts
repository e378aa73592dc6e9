import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { buildMutants } from './build-mutants.ts';
import type { FindOrder } from './find-mutant.ts';
import { type Finding, findSeeds } from './find-seeds.ts';
import type { Mutant } from './mutant.ts';
import { mutants } from './mutants.ts';

// Run by run.js, from DIRECTORY/base/test/sim/mutants in the repository.
const base = fileURLToPath(new URL('../../../', import.meta.url));
const directory = join(base, '..');
const root = join(directory, '..');
const list = join(root, 'test/sim/mutants/found-by.json');
const say = (line: string) => process.stdout.write(`${line}\n`);

/** Recorded seeds of a mutant. */
const SEEDS_NOTED = 3;
/** Runs of a mutant that its recorded seeds no longer find, before it counts as lost. */
const RUNS_NEAR = 300;

const { values } = parseArgs({
  options: {
    mutant: { type: 'string', multiple: true },
    seeds: { type: 'string', default: '1..10000' },
    seed: { type: 'string' },
    noted: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
});
const chosen = mutants.filter(({ name }) => values.mutant?.includes(name) ?? true);
if (chosen.length === 0) {
  process.stderr.write(`There is no mutant ${values.mutant}.\n`);
  process.exit(64);
}
const compiled = buildMutants(root, directory, chosen);
const [from = 1, to = from] = (values.seed ?? values.seeds).split('..').map(Number);

/** Runs seeds with the mutant or, for undefined, with the unchanged code. */
function find(mutant: Mutant | undefined, order: Pick<FindOrder, 'seeds'> & Partial<FindOrder>) {
  const path = mutant && compiled.get(mutant.name);
  const url = mutant && pathToFileURL(join(base, mutant.file.replace(/ts$/, 'js'))).href;
  const planted = path === undefined || url === undefined ? undefined : { url, path };
  const rest = {
    needs: [],
    mostRuns: Number.MAX_SAFE_INTEGER,
    isRange: false,
    isFirstEnough: false,
    isVerbose: false,
    planted,
  };
  return findSeeds({ ...rest, ...order }, say);
}

/** The first seeds that find a mutant and are clean without it. */
async function firstFindings(mutant: Mutant): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  let last = to;
  for (let seed = from; seed <= last && findings.length < SEEDS_NOTED; ) {
    const seeds = [seed, last] as const;
    const { needs = [] } = mutant;
    const [finding] = await find(mutant, { seeds, needs, isRange: true, isFirstEnough: true });
    if (finding === undefined) break;
    seed = finding.seed + 1;
    if ((await find(undefined, { seeds: [finding.seed] })).length > 0) continue;
    findings.push(finding);
    // More are recorded unless they are too rare.
    last = Math.min(to, findings[0] === undefined ? to : 3 * findings[0].seed + 20);
  }
  return findings;
}

/** Runs an action for each item, as many at once as there are processors. */
async function forEach<T>(items: readonly T[], action: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const work = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await action(item);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
}

async function searchAll(): Promise<boolean> {
  const width = Math.max(...chosen.map(({ name }) => name.length));
  const seedsOf: Record<string, readonly number[]> = {};
  await forEach(chosen, async (mutant) => {
    const findings = await firstFindings(mutant);
    const [first] = findings;
    if (first !== undefined) seedsOf[mutant.name] = findings.map(({ seed }) => seed);
    const outcome =
      first === undefined
        ? `       survives seeds ${from}..${to}`
        : `${String(first.seed).padStart(5)}  ${first.problem.split('\n', 1)[0]}`;
    say(`${mutant.name.padEnd(width)}  ${outcome}`);
  });
  const survivors = chosen.filter(({ name }) => seedsOf[name] === undefined).length;
  say(`${chosen.length - survivors} of ${chosen.length} mutants are found`);
  if (values.record) note(seedsOf);
  return survivors === 0;
}

/** Records the seeds of the chosen mutants and keeps those of the others. */
function note(seedsOf: Readonly<Record<string, readonly number[]>>): void {
  const isChosen = (name: string) => chosen.some((mutant) => mutant.name === name);
  const before = existsSync(list) ? noted() : {};
  const lines = mutants.flatMap(({ name }) => {
    const seeds = isChosen(name) ? seedsOf[name] : before[name];
    return seeds === undefined ? [] : [`  "${name}": [${seeds.join(', ')}]`];
  });
  writeFileSync(list, `{\n${lines.join(',\n')}\n}\n`);
}

function noted(): Readonly<Record<string, readonly number[]>> {
  return JSON.parse(readFileSync(list, 'utf8'));
}

/**
 * True where a recorded seed of a mutant, or one near it, finds it: a change of the code shifts every run.
 */
async function isFoundStill(mutant: Mutant, seeds: readonly number[]): Promise<boolean> {
  if ((await find(mutant, { seeds, isFirstEnough: true })).length > 0) return true;
  const { needs = [] } = mutant;
  const [finding] = await find(mutant, {
    ...{ seeds: [from, to], needs, isRange: true, isFirstEnough: true },
    mostRuns: RUNS_NEAR,
  });
  return finding !== undefined && (await find(undefined, { seeds: [finding.seed] })).length === 0;
}

/** Checks the recorded seeds: of each mutant one must find it, and all must be clean without. */
async function checkNoted(): Promise<boolean> {
  const seedsOf = noted();
  const wrong: string[] = [];
  await forEach([undefined, ...chosen], async (mutant) => {
    if (mutant !== undefined) {
      const seeds = seedsOf[mutant.name] ?? [];
      if (await isFoundStill(mutant, seeds)) return;
      wrong.push(`mutant ${mutant.name} is found by none of seeds ${seeds.join(', ')}`);
      return;
    }
    const seeds = [...new Set(chosen.flatMap(({ name }) => seedsOf[name] ?? []))];
    for (const { seed, problem } of await find(undefined, { seeds })) {
      wrong.push(`seed ${seed} has problems without a mutant: ${problem}`);
    }
  });
  for (const line of wrong) say(line);
  if (wrong.length > 0) say('`npm run sim:mutants -- --record` looks for seeds again.');
  return wrong.length === 0;
}

async function replay(mutant: Mutant): Promise<boolean> {
  const found = await find(mutant, { seeds: [from], isVerbose: true });
  for (const { problem } of found) say(problem);
  return found.length === 0;
}

const [only] = chosen;
const isReplay = values.seed !== undefined && values.mutant !== undefined && only !== undefined;
const isGood = isReplay
  ? await replay(only)
  : values.noted
    ? await checkNoted()
    : await searchAll();
process.exitCode = isGood ? 0 : 1;
