import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandOf, withReadmeNumbers } from '../../scripts/readme-numbers.js';

const url = (path: string) => new URL(`../../${path}`, import.meta.url);
const read = (path: string) => readFileSync(url(path), 'utf8');
const pathOf = (name: string) => `bench/results/${name}.txt`;
const resultsOf = (name: string) => (existsSync(url(pathOf(name))) ? read(pathOf(name)) : '');
const delays = `bench page-delay
2026-11-25, commit abc

20 requests/s of one model, 26 h of past, default settings

outage: all
  seed 1: 18.1 s, critical tail_shift of forward
  seed 2: 19.9 s, critical tail_shift of forward
  paged 2 of 2; least 18.1 s, median 18.1 s, most 19.9 s

time-outs
  seed 1: no page within 240 s
  paged 0 of 1
`;
const readme = read('README.md');
const made = /<!-- (numbers): .*? -->[\s\S]*?<!-- \/\1 -->/g;

/** README as it would be if one file had other results. */
function readmeOf(name: string, change: (results: string) => string): string {
  return withReadmeNumbers(readme, (one) => (one === name ? change : String)(resultsOf(one)));
}

describe('the numbers of README', () => {
  it('are those of the files that its rows name (npm run generate:docs)', () => {
    expect(withReadmeNumbers(readme, resultsOf)).toBe(readme);
  });

  it('are all made of files: no other number stands in their section', () => {
    const section = readme.slice(readme.indexOf('## Numbers'), readme.indexOf('## Where to go on'));
    expect(section.match(made)).toHaveLength(1);
    const prose = section.replaceAll(made, '').replaceAll(/\]\([^)]*\)/g, '');
    expect(prose.match(/\d.*/g)).toBeNull();
  });

  it.each([
    ['pipeline', /\d+ k \(/, '999 k ('],
    ['sim', /^bad seeds( +)0$/m, 'bad seeds$11'],
    ['chaos', /most [\d.]+ s/, 'most 99.9 s'],
    ['chaos-outage', /\d+ MiB/, '9999 MiB'],
    ['fuzz', /slowest [\d.]+ ms/, 'slowest 999.9 ms'],
    ['eval-false-pages', /\| \*\*all\*\* \| (\d+) \| \d+ /, '| **all** | $1 | 999 '],
    ['eval-faults', /(\| \*\*all\*\* .*?)[\d.]+ %/, '$112.3 %'],
  ])('change with bench/results/%s.txt', (name, from, to) => {
    expect(resultsOf(name)).toMatch(from);
    expect(readmeOf(name, (results) => results.replace(from, to))).not.toBe(readme);
  });

  it('have the delay of each fault, by its rounds, and say where it is not recorded', () => {
    expect(readmeOf('page-delay', () => delays)).toContain(
      '20 requests a second | outage: 2 of 2, 18.1 to 19.9 s; time-outs: 0 of 1 | ' +
        '`npm run bench -- page-delay` | [2026-11-25](bench/results/page-delay.txt) |',
    );
    expect(readmeOf('page-delay', () => '')).toContain(
      '| not recorded yet | `npm run bench -- page-delay` | – |',
    );
  });

  it('are not made of a file that has lost what they are read from', () => {
    const lost = (name: string) => () => readmeOf(name, () => 'bench\n2026-11-25, commit abc\n');
    for (const name of ['sim', 'chaos', 'chaos-outage', 'fuzz', 'eval-faults', 'page-delay']) {
      expect(lost(name)).toThrow('have lost');
    }
  });

  it('name the command that recorded them, without what changes no number', () => {
    const of = (title: string) => commandOf(`${title}\n2026-11-25, commit abc\n`);
    expect(of('chaos')).toBe('npm run chaos');
    expect(of('chaos-outage --outage 10m')).toBe('npm run chaos -- --outage 10m');
    expect(of('sim --seeds 1..100000')).toBe('npm run sim -- --seeds 1..100000');
    expect(of('eval faults --jobs 2 --verbose --faulty 6')).toBe(
      'npm run eval -- faults --faulty 6',
    );
  });
});
