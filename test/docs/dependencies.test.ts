import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}
interface Lock {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly version: string;
        readonly license?: string;
        readonly dev?: boolean;
        readonly optional?: boolean;
        readonly optionalDependencies?: Readonly<Record<string, string>>;
      }
    >
  >;
}

const manifest = JSON.parse(read('package.json')) as Manifest;
const { packages } = JSON.parse(read('package-lock.json')) as Lock;
const [runtime = '', development = ''] = read('docs/reference/dependencies.md').split(
  '\n## For development and tests\n',
);

/** Name and licence of each row of the table in a part of the page. */
function rows(part: string): [string, string][] {
  return [...part.matchAll(/^\| `([^`]+)` \| ([^|]+) \|/gm)].map((match) => [
    match[1] ?? '',
    match[2] ?? '',
  ]);
}

/** Names in the headings of a part: one entry may speak of several. */
function headings(part: string): string[] {
  return [...part.matchAll(/^### (.+)$/gm)].flatMap((match) =>
    [...(match[1] ?? '').matchAll(/`([^`]+)`/g)].map((name) => name[1] ?? ''),
  );
}

describe.each([
  ['at run time', runtime, manifest.dependencies],
  ['for development', development, manifest.devDependencies],
])('docs/reference/dependencies.md, %s', (_, part, wanted) => {
  const names = Object.keys(wanted).toSorted();

  it('has a row for every dependency, and no other', () => {
    const listed = rows(part).map(([name]) => name);
    expect(listed.toSorted()).toEqual(names);
  });

  it('says of every dependency what it is for', () => {
    expect(headings(part).toSorted()).toEqual(names);
  });

  it('has the licences of what is locked', () => {
    const locked = names.map((name) => [name, packages[`node_modules/${name}`]?.license]);
    expect(Object.fromEntries(rows(part))).toEqual(Object.fromEntries(locked));
  });
});

describe('what ships', () => {
  const shipped = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev);

  it('is under licences that ask for no more than a notice', () => {
    const licences = new Set(shipped.map(([, { license }]) => license));
    const known = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'MIT-0'];
    expect([...licences].filter((licence) => !known.includes(licence ?? ''))).toEqual([]);
  });
});

describe('package-lock.json', () => {
  it('has the packages of every platform, without which npm refuses to install from it', () => {
    const missing = Object.values(packages)
      .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
      .filter((name) => packages[`node_modules/${name}`] === undefined);
    expect(missing).toEqual([]);
  });
});
