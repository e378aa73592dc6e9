import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { applyMutant } from './apply-mutant.ts';
import type { Mutant } from './mutant.ts';

/**
 * Writes the changed file of each mutant to `directory/NAME`, and compiles them all, with their types
 * checked. A mutant that does not compile, or whose text is missing, throws.
 *
 * @param root the repository, which holds `directory`
 * @returns the compiled file of each mutant, by name
 */
export function buildMutants(
  root: string,
  directory: string,
  mutants: readonly Mutant[],
): ReadonlyMap<string, string> {
  const compiled = new Map<string, string>();
  const include: string[] = [];
  const out = join(directory, 'checked');
  rmSync(join(directory, 'mutants'), { recursive: true, force: true });
  for (const mutant of mutants) {
    const source = join(directory, 'mutants', mutant.name, mutant.file);
    mkdirSync(dirname(source), { recursive: true });
    writeFileSync(source, applyMutant(mutant, readFileSync(join(root, mutant.file), 'utf8')));
    include.push(source);
    compiled.set(
      mutant.name,
      join(
        out,
        relative(root, directory),
        'mutants',
        mutant.name,
        mutant.file.replace(/ts$/, 'js'),
      ),
    );
  }
  const config = join(directory, 'tsconfig.json');
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.sim.json'),
      compilerOptions: {
        // Imports of a changed file resolve to src.
        rootDirs: [root, ...mutants.map(({ name }) => join(directory, 'mutants', name))],
        rootDir: root,
        outDir: out,
        noUnusedLocals: false,
        noUnusedParameters: false,
        sourceMap: false,
      },
      // Not imported by any file: types that the language's own libraries lack.
      include: [...include, join(root, 'src/**/*.d.ts')],
      exclude: [],
    }),
  );
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', config], { stdio: 'inherit' });
  return compiled;
}
