import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const MAX_LINES = 450;
const MAX_FILES = 16;
/** The formatter keeps code to 100; beyond 110 there may only be what it cannot break: a text. */
const MAX_COLUMNS = 110;

const root = fileURLToPath(new URL('../', import.meta.url));

/** Files below a folder, relative to the project; generated results are not ours to tidy. */
function filesBelow(folder: string): string[] {
  const path = join(root, folder);
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((file) => !/(^|\/)(node_modules|results|\.[^/]*)(\/|$)/.test(file))
    .map((file) => join(folder, file))
    .filter((file) => statSync(join(root, file)).isFile())
    .sort();
}

const codeFiles = ['src', 'ui', 'kernel', 'test', 'bench', 'scripts', 'bin']
  .flatMap(filesBelow)
  .filter((file) => /\.([jt]s|tsx)$/.test(file));
const textFiles = [
  ...['docs', 'sql', 'config'].flatMap(filesBelow),
  ...readdirSync(root).filter((file) => file.endsWith('.md')),
].filter((file) => /\.(md|sql|yaml|json)$/.test(file));
const shownCode = codeFiles.filter((file) => !file.startsWith('test/'));

const readText = (file: string) => readFileSync(join(root, file), 'utf8');
const linesOf = (file: string) => readText(file).split('\n');
const isOfSource = (file: string) => /^(src|ui)\//.test(file);
/** What is wrong, with file and line. */
function offences(files: readonly string[], isWrong: (line: string) => boolean): string[] {
  return files.flatMap((file) =>
    linesOf(file).flatMap((line, i) => (isWrong(line) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
  );
}

/** A text without what its quotes hold and without regular expressions, line for line. */
const withoutTexts = (text: string) =>
  text
    .replace(/^\s*\/.+\/[dgimsuy]*[,;]?$/gm, '')
    .replace(/`(?:[^`\\]|\\.)*`/g, (template) => template.replace(/[^\n]/g, ''))
    .replace(/'[^'\n]*'|"[^"\n]*"/g, '');
// Put together here, so that this file holds none of what it looks for.
const unfinished = new RegExp(
  `\\b(${['TO', 'DO'].join('')}|${['FIX', 'ME'].join('')}|${'X'.repeat(3)})\\b`,
);
const looseCast = new RegExp(`\\b${['as', 'any'].join(' ')}\\b`);
const consoleCall = new RegExp(`\\b${['console', ''].join('\\.')}(log|warn|error|info|debug)\\b`);
const placesOfAMachine = /(^|[\s"'`(=])\/(home|Users|root|work|private|var\/folders)\/[\w.-]+/;

describe('the files', () => {
  it('are found', () => {
    expect(codeFiles.length).toBeGreaterThan(300);
    expect(textFiles.length).toBeGreaterThan(15);
  });

  it(`have at most ${MAX_LINES} lines of code`, () => {
    const long = codeFiles.filter((file) => linesOf(file).length > MAX_LINES);
    expect(long).toEqual([]);
  });

  it(`have at most ${MAX_COLUMNS} columns, texts apart`, () => {
    const wide = codeFiles.flatMap((file) => {
      const lines = linesOf(file);
      const bare = withoutTexts(lines.join('\n')).split('\n');
      const isWide = (line: string, at: number) =>
        line.length > MAX_COLUMNS &&
        Math.min((bare[at] ?? '').length, withoutTexts(line).length) > MAX_COLUMNS - 10;
      return lines.flatMap((line, at) => (isWide(line, at) ? [`${file}:${at + 1}: ${line}`] : []));
    });
    expect(wide).toEqual([]);
  });

  it(`of src/ lie in folders of at most ${MAX_FILES}`, () => {
    const folders = new Map<string, number>();
    for (const file of codeFiles.filter(isOfSource)) {
      folders.set(dirname(file), (folders.get(dirname(file)) ?? 0) + 1);
    }
    const full = [...folders].filter(([, files]) => files > MAX_FILES);
    expect(full).toEqual([]);
  });

  it('of src/ export no value that no other file names', () => {
    const wordsOf = new Map(codeFiles.map((file) => [file, new Set(readText(file).match(/\w+/g))]));
    const unused = codeFiles.filter(isOfSource).flatMap((file) => {
      const exported = readText(file).matchAll(
        /^export (?:async )?(?:abstract )?(?:class|const|function\*?) (\w+)/gm,
      );
      return [...exported].flatMap(([, name = '']) => {
        const isNamed = codeFiles.some((other) => other !== file && wordsOf.get(other)?.has(name));
        return isNamed ? [] : [`${file}: ${name}`];
      });
    });
    expect(unused).toEqual([]);
  });

  it('are named in kebab-case', () => {
    const isKebab = (file: string) =>
      /^_?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)+$/.test(basename(file));
    expect(codeFiles.filter((file) => !isKebab(file))).toEqual([]);
  });

  it('are finished: nothing is left to do', () => {
    const files = [...codeFiles, ...textFiles];
    expect(offences(files, (line) => unfinished.test(line))).toEqual([]);
  });

  it('cast nothing to what is not checked', () => {
    expect(offences(codeFiles, (line) => looseCast.test(line))).toEqual([]);
  });

  it('write through the log and the command, not to the console', () => {
    const files = shownCode.filter(isOfSource);
    expect(offences(files, (line) => consoleCall.test(line))).toEqual([]);
  });

  it('name no place of one machine', () => {
    const files = [...shownCode, ...textFiles];
    expect(offences(files, (line) => placesOfAMachine.test(line))).toEqual([]);
  });

  it('end with a newline, and have no space at the end of a line', () => {
    const files = [...codeFiles, ...textFiles.filter((file) => !file.endsWith('.md'))];
    expect(offences(files, (line) => /[ \t]$/.test(line))).toEqual([]);
    expect([...codeFiles, ...textFiles].filter((file) => linesOf(file).at(-1) !== '')).toEqual([]);
  });
});

describe('the rules', () => {
  it.each([
    ['a note left behind', unfinished, `// ${['TO', 'DO'].join('')}: later`],
    ['a loose cast', looseCast, `x ${['as', 'any'].join(' ')};`],
    ['a console', consoleCall, `${['console', 'log'].join('.')}(1)`],
    ['a home directory', placesOfAMachine, 'cd /home/ann/project'],
  ])('see %s', (_, rule, line) => {
    expect(rule.test(line)).toBe(true);
  });
});
