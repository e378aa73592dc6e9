import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withEvalTables } from '../../scripts/eval-tables.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('docs/detection.md', () => {
  it.each(['eval', 'eval-nab'])('has the tables recorded in bench/results/%s.txt', (name) => {
    const document = read('docs/detection.md');
    expect(withEvalTables(document, read(`bench/results/${name}.txt`), name)).toBe(document);
  });

  it('takes what follows the head of the results', () => {
    const mark = '<!-- eval: made of bench/results/eval.txt by npm run generate:docs -->';
    const document = `before\n${mark}\nold\n<!-- /eval -->\nafter`;
    const results = 'eval --weeks 1\n2026-11-22, commit abc\n\n| a |\n|---|\n\n| b |\n';
    expect(withEvalTables(document, results)).toBe(
      `before\n${mark}\n\n| a |\n|---|\n\n| b |\n\n<!-- /eval -->\nafter`,
    );
  });
});
