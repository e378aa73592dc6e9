// Covers src/cli/text/display-width.ts.

import { describe, expect, it } from 'vitest';
import { displayWidth } from '../../../src/cli/text/display-width.ts';
import { renderTable, right } from '../../../src/cli/text/table.ts';

const columns = ['MODEL', ...right('P99')];

describe('renderTable', () => {
  it('aligns left and right, and leaves no space at the end of a line', () => {
    const rows = [
      ['ranker', '84.1'],
      ['a', '1,203.0'],
    ];
    expect(renderTable({ columns, rows, color: false })).toBe(
      ['MODEL       P99', 'ranker     84.1', 'a       1,203.0', ''].join('\n'),
    );
  });

  it('of no rows is its header', () => {
    expect(renderTable({ columns, rows: [], color: false })).toBe('MODEL  P99\n');
  });

  it('counts the width of a character on the screen', () => {
    const rows = [
      ['日本', '1'],
      ['cafe\u0301', '2'],
      ['🚀', '3'],
    ];
    const lines = renderTable({ columns, rows, color: false }).trimEnd().split('\n');
    expect(lines.map(displayWidth)).toEqual([10, 10, 10, 10]);
  });

  it('truncates the widest cells with … until the line fits', () => {
    const rows = [['a-model-with-a-very-long-name', '84.1']];
    const text = renderTable({ columns, rows, color: false, maxWidth: 20 });
    expect(text).toBe('MODEL            P99\na-model-with-…  84.1\n');
  });

  it('does not truncate a column below 8', () => {
    const rows = [['abcdefgh', '84.1']];
    const text = renderTable({ columns, rows, color: false, maxWidth: 5 });
    expect(text).toContain('abcdefgh  84.1');
  });

  it('truncates wide characters whole', () => {
    const rows = [['日本語日本語日本語', '1']];
    const text = renderTable({ columns, rows, color: false, maxWidth: 15 });
    expect(text.split('\n')[1]).toBe('日本語日…     1');
  });

  it('shows control characters as escapes, so that a model name cannot control the terminal', () => {
    const rows = [['a\u001b[2Jb\nc\u202ed', '1']];
    const text = renderTable({ columns, rows, color: true });
    expect(text.split('\n')[1]).toContain('a\\u001b[2Jb\\u000ac\\u202ed');
    expect(text.split('\n')).toHaveLength(3);
  });

  it('styles cells without counting the style, and not at all without colour', () => {
    const red = (text: string) => `\u001b[31m${text}\u001b[39m`;
    const rows = [[{ text: 'ranker', style: red }, '1']];
    expect(renderTable({ columns, rows, color: true })).toContain(
      '\u001b[31mranker\u001b[39m    1',
    );
    expect(renderTable({ columns, rows, color: false })).toBe('MODEL   P99\nranker    1\n');
  });
});
