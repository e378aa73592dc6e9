import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { evalPlots, tableOf } from '../../scripts/eval-plots.js';
import { evalNames, withEvalTables } from '../../scripts/eval-tables.js';

const url = (path: string) => new URL(`../../${path}`, import.meta.url);
const read = (path: string) => readFileSync(url(path), 'utf8');
const resultsOf = (name: string) => {
  const path = `bench/results/${name}.txt`;
  return existsSync(url(path)) ? read(path) : '';
};

describe('docs/detection.md', () => {
  it.each(evalNames)('has the tables recorded in bench/results/%s.txt', (name) => {
    const document = read('docs/detection.md');
    expect(withEvalTables(document, resultsOf(name), name)).toBe(document);
  });

  const recorded = ['eval-false-pages', 'eval-faults'] as const;
  const [falsePages, faults] = recorded.map((name) => read(`bench/results/${name}.txt`));
  it.each(evalPlots(falsePages as string, faults as string))(
    'shows $path as it was recorded',
    (plot) => {
      expect(read(plot.path)).toBe(plot.text);
      expect(read('docs/detection.md')).toContain(`](${plot.path.replace('docs/', '')})`);
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
