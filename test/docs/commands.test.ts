import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandLineProblem } from './command-line-problem.ts';
import { documentedCommands } from './documented-commands.ts';
import { documents } from './documents.ts';
import { shellCommands } from './shell-commands.ts';
import { type Scripts, tailmarkArguments } from './tailmark-arguments.ts';

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
const { scripts } = JSON.parse(manifest) as { readonly scripts: Scripts };

describe('commands in the documentation', () => {
  const commands = documents().flatMap(documentedCommands);

  it('are found', () => {
    const places = commands
      .filter(({ words }) => words[0] === 'tailmark' || words[0] === 'npm')
      .map(({ place }) => place.replace(/:\d+$/, ''));
    expect(new Set(places)).toContain('README.md');
    expect(new Set(places)).toContain('docs/how-to/generate.md');
    expect(places.length).toBeGreaterThan(20);
  });

  it.each(commands)('$place $words', async ({ words }) => {
    const args = tailmarkArguments(words, scripts);
    expect(args === null ? null : await commandLineProblem(args)).toBeNull();
  });
});

describe('commandLineProblem', () => {
  it.each([
    [['rnu'], "unknown command 'rnu'"],
    [['run', '--rolls', 'ingest'], "unknown option '--rolls'"],
    [['run', '--roles'], "option '--roles <LIST>' argument missing"],
    [['verify', 'everything'], 'too many arguments'],
    [['run', '--log-level', 'loud'], 'Allowed choices are'],
  ])('refuses %j', async (argv, problem) => {
    expect(await commandLineProblem(argv)).toContain(problem);
  });

  it.each([[['--version']], [['run', '--help']], [['tails', '--json', '--since', '1h']]])(
    'takes %j',
    async (argv) => {
      expect(await commandLineProblem(argv)).toBeNull();
    },
  );
});

describe('shellCommands', () => {
  const words = (text: string) => shellCommands(text).map((command) => command.words);

  it.each([
    ['one two   # three', [['one', 'two']]],
    ['a | b && c; d &', [['a'], ['b'], ['c'], ['d']]],
    ['a \\\n  --b c\nd', [['a', '--b', 'c'], ['d']]],
    ['X=1 Y="2 3" a Z=4', [['a', 'Z=4']]],
    [`a 'b c' "d \\"e" f\\ g h#i`, [['a', 'b c', 'd "e', 'f g', 'h#i']]],
    ['a > out 2>&1 < in b', [['a', 'b']]],
    ['# nothing\n\n', []],
  ])('splits %j', (text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  it('gives the line of each', () => {
    const lines = shellCommands('a\n\n# b\nc \\\n d\ne').map((command) => command.line);
    expect(lines).toEqual([0, 3, 5]);
  });
});

describe('tailmarkArguments', () => {
  it.each([
    ['tailmark run', ['run']],
    ['./bin/tailmark.js run', ['run']],
    ['node bin/tailmark.js up --json', ['up', '--json']],
    ['npm run demo -- --once', ['demo', '--once']],
    ['npm test', null],
    ['npm ci', null],
    ['docker compose run --rm tailmark verify --json', ['verify', '--json']],
    ['docker run --rm tailmark:0.1.0 --version', ['--version']],
    ['docker compose up --build', null],
    ['kafka-topics.sh --create', null],
  ])('of %s', (text, expected) => {
    expect(tailmarkArguments(text.split(' '), scripts)).toEqual(expected);
  });

  it('refuses a script that does not exist', () => {
    expect(() => tailmarkArguments(['npm', 'run', 'dmeo'], scripts)).toThrow('no such script');
  });
});
