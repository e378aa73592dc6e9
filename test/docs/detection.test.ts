import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withDetectionSummary } from '../../scripts/detection-summary.js';
import { evalPlots, tableOf } from '../../scripts/eval-plots.js';
import { evalPages, withEvalTables } from '../../scripts/eval-tables.js';

const url = (path: string) => new URL(`../../${path}`, import.meta.url);
const read = (path: string) => readFileSync(url(path), 'utf8');
const resultsOf = (name: string) => {
  const path = `bench/results/${name}.txt`;
  return existsSync(url(path)) ? read(path) : '';
};

const tables = Object.entries(evalPages).flatMap(([page, names]) =>
  names.map((name) => ({ page, name })),
);

describe('docs/detection.md', () => {
  const page = read('docs/detection.md');

  it('has the table of what is recorded (npm run generate:docs)', () => {
    expect(withDetectionSummary(page, resultsOf)).toBe(page);
  });

  it.each([
    ['eval-false-pages', /\| \*\*all\*\* \| (\d+) \| \d+ /, '| **all** | $1 | 999 '],
    ['eval-faults', /(\| \*\*all\*\* .*?)[\d.]+ %/, '$112.3 %'],
    ['eval-releases', /40 of 40 \|$/m, '39 of 40 |'],
    ['eval-kinds', /\| \*\*all\*\* \| (\d+) \| \d+ /, '| **all** | $1 | 1 '],
    ['eval-drift', /\| 6 \| 6 \|/, '| 6 | 5 |'],
  ])('has other numbers with another bench/results/%s.txt', (name, from, to) => {
    expect(resultsOf(name)).toMatch(from);
    const other = (one: string) =>
      one === name ? resultsOf(one).replace(from, to) : resultsOf(one);
    expect(withDetectionSummary(page, other)).not.toBe(page);
  });
});

describe('the pages of the evaluation', () => {
  it.each(tables)('$page has the tables recorded in bench/results/$name.txt', ({ page, name }) => {
    const document = read(page);
    expect(withEvalTables(document, resultsOf(name), name)).toBe(document);
  });

  const recorded = ['eval-false-pages', 'eval-faults'] as const;
  const [falsePages, faults] = recorded.map((name) => read(`bench/results/${name}.txt`));
  it.each(evalPlots(falsePages as string, faults as string))(
    'shows $path as it was recorded',
    (plot) => {
      expect(read(plot.path)).toBe(plot.text);
      const page = read('docs/explained/evaluation.md');
      expect(page).toContain(`](${plot.path.replace('docs/', '../')})`);
    },
  );

  it('says how to record what is not recorded', () => {
    const mark =
      '<!-- eval-drift: made of bench/results/eval-drift.txt by npm run generate:docs -->';
    const document = `before\n${mark}\nold\n<!-- /eval-drift -->\nafter`;
    expect(withEvalTables(document, '', 'eval-drift')).toBe(
      `before\n${mark}\n\nNot recorded yet: \`npm run eval -- drift --record\`.\n\n<!-- /eval-drift -->\nafter`,
    );
  });

  it('takes what follows the head of the results', () => {
    const mark =
      '<!-- eval-drift: made of bench/results/eval-drift.txt by npm run generate:docs -->';
    const document = `before\n${mark}\nold\n<!-- /eval-drift -->\nafter`;
    const results = 'eval --weeks 1\n2026-11-22, commit abc\n\n| a |\n|---|\n\n| b |\n';
    expect(withEvalTables(document, results, 'eval-drift')).toBe(
      `before\n${mark}\n\n| a |\n|---|\n\n| b |\n\n<!-- /eval-drift -->\nafter`,
    );
  });
});

describe('the plots of the evaluation', () => {
  const heads = {
    nulls:
      '| traffic with nothing wrong | series-weeks | per 1,000 series-weeks | at most (95 %) | static threshold |',
    faults: '| fault | recall of those | median delay, s | over the oracle’s | static threshold |',
  };
  const results = [
    ...[
      'eval',
      '',
      heads.nulls,
      '|---|---:|---:|---:|---:|',
      '| a: some <words> | 3 | 0 | 1230 | 10 |',
    ],
    ...['', heads.faults, '|---|---:|---:|---:|---:|', '| b | 50.0 % | 30 | 2 | 100.0 % |'],
    ...['| none | – | – | – | – |', '| **all** | 50.0 % | 30 | 2 | 100.0 % |', ''],
  ].join('\n');

  it('take rows by the names of their columns', () => {
    expect(tableOf(results, 'fault').map(({ name }) => name)).toEqual(['b', 'none', 'all']);
    expect(tableOf(results, 'traffic with nothing wrong')[0]).toMatchObject({
      name: 'a',
      'at most (95 %)': '1230',
    });
    expect(() => tableOf(results, 'mixture')).toThrow('lost their table: mixture');
  });

  it('place what they show, and leave out what there is not', () => {
    const [recall, delay, falsePages] = evalPlots(results, results).map(({ text }) => text);
    // Half way and all the way from 170 to 850.
    expect(recall).toMatch(/<circle cx="510" [^>]*><title>b, tailmark: 50 %/);
    expect(recall).toMatch(/<rect x="846.8" [^>]*><title>b, static threshold: 100 %/);
    expect(recall).not.toContain('plain binomial: ');
    expect(recall).not.toContain('none');
    expect(delay).toContain('>30 s, 2 ×</text>');
    // None is at the left edge, ten a sixth of the way to a million.
    expect(falsePages).toMatch(/<circle cx="170" [^>]*><title>a: 0, at most 1230/);
    expect(falsePages).toMatch(/<rect x="280.1" [^>]*><title>a, static threshold: 10/);
  });
});
