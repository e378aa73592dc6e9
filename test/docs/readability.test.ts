import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { measure, pagePaths, syllablesOf } from '../../scripts/readability.js';

const MAX_WORDS = 2_500;
const MAX_COLUMNS = 120;
const MIN_EASE = 55;
/** Words of pages that are to be read in one go, and of those in which something is looked up. */
const limits = {
  'README.md': 900,
  'docs/detection.md': 1_500,
  'CHANGELOG.md': 3_600,
  'docs/how-to/security.md': 2_750,
  'docs/reference/cli.md': 3_950,
  'docs/reference/configuration.md': 4_750,
  'docs/reference/alert-messages.md': 6_000,
  'docs/reference/anomaly-event.md': 2_700,
};

const pages = pagePaths().map((path) => ({
  path,
  ...measure(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')),
}));

describe('the pages', () => {
  it('are found', () => {
    expect(pages.length).toBeGreaterThan(20);
    const paths = pages.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(Object.keys(limits)));
  });

  it.each(pages)('$path has at most as many words as it may', ({ path, words }) => {
    const most = new Map(Object.entries(limits)).get(path) ?? MAX_WORDS;
    expect(words).toBeLessThanOrEqual(most);
  });

  it.each(pages)(`$path has at most ${MAX_COLUMNS} columns, tables and code apart`, (page) => {
    expect(page.widest).toBeLessThanOrEqual(MAX_COLUMNS);
  });

  it.each(pages.filter(({ path }) => /^(README|docs\/(start|how-to)\/)/.test(path)))(
    `$path has a reading ease of at least ${MIN_EASE} (node scripts/readability.js)`,
    ({ ease }) => expect(ease).toBeGreaterThanOrEqual(MIN_EASE),
  );
});

describe('measure', () => {
  it('counts words in code and tables, and reads neither', () => {
    const { words, ease, wordsPerSentence } = measure(
      '# Title\n\nThe cat sat. It ate `all of it`, once.\n\n| a | table |\n\n```sh\nnpm test\n```\n',
    );
    expect(words).toBe(14);
    expect(wordsPerSentence).toBe(3);
    // 206.835 - 1.015 × 3 - 84.6 × 6 / 6
    expect(ease).toBeCloseTo(119.19, 2);
  });

  it('takes the widest line of prose', () => {
    const wide = 'word '.repeat(30).trim();
    expect(measure(`short\n\n${wide}\n`).widest).toBe(149);
    expect(measure(`| ${wide} |\n\n    ${wide}\n\n\`\`\`\n${wide}\n\`\`\`\n`).widest).toBe(0);
    expect(measure(`- ${'x'.repeat(200)}\n`).widest).toBe(0);
  });

  it.each([
    ['cat', 1],
    ['table', 2],
    ['stage', 1],
    ['windows', 2],
    ['evidence', 3],
    ['anomaly', 4],
    ['matched', 1],
    ['counted', 2],
  ])('hears %s in %i syllables', (word, count) => {
    expect(syllablesOf(word)).toBe(count);
  });
});
