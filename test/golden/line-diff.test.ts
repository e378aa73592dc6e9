import { describe, expect, it } from 'vitest';
import { lineDiff } from './line-diff.ts';

const numbers = Array.from({ length: 20 }, (_, i) => `${i + 1}`);

describe('the difference of two texts', () => {
  it.each([
    ['equal texts', 'a\nb', 'a\nb', []],
    ['a line that is new', 'a\nc', 'a\nb\nc', ['@@ line 1', '  a', '+ b', '  c']],
    ['a line that is gone', 'a\nb\nc', 'a\nc', ['@@ line 1', '  a', '- b', '  c']],
    ['another line', 'a\nb\nc', 'a\nx\nc', ['@@ line 1', '  a', '- b', '+ x', '  c']],
    ['nothing before', '', 'a\n', ['@@ line 1', '+ a', '  ']],
  ])('shows %s', (_, before, after, shown) => {
    expect(lineDiff(before, after)).toBe(shown.join('\n'));
  });

  it('shows places that lie apart, with two lines around each', () => {
    const after = numbers.with(2, 'x').with(15, 'y');
    expect(lineDiff(numbers.join('\n'), after.join('\n')).split('\n')).toEqual([
      ...['@@ line 1', '  1', '  2', '- 3', '+ x', '  4', '  5'],
      ...['@@ line 14', '  14', '  15', '- 16', '+ y', '  17', '  18'],
    ]);
  });

  it('shows of long lines what differs', () => {
    const [before, after] = ['a', 'b'].map((each) => `${'x'.repeat(500)}${each}${'y'.repeat(500)}`);
    expect(lineDiff(before ?? '', after ?? '').split('\n')).toEqual([
      '@@ line 1',
      `- …${'x'.repeat(80)}a${'y'.repeat(80)}…`,
      `+ …${'x'.repeat(80)}b${'y'.repeat(80)}…`,
    ]);
  });

  it('ends after 60 lines, and says how many follow', () => {
    const lines = lineDiff('', Array.from({ length: 99 }, (_, i) => `${i}`).join('\n')).split('\n');
    expect([lines.length, lines.at(-1)]).toEqual([61, '… 41 more lines']);
  });

  it('compares large texts by position', () => {
    const many = Array.from({ length: 3_000 }, (_, i) => `${i}`);
    const after = many.map((line) => `${line}!`).with(1_500, '1500');
    const shown = lineDiff(many.join('\n'), after.join('\n')).split('\n');
    expect(shown.slice(0, 3)).toEqual(['@@ line 1', '- 0', '+ 0!']);
  });
});
