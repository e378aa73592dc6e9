import { describe, expect, it } from 'vitest';
import { annotation, markdownText } from '../../../src/cli/text/github-output.ts';

describe('an annotation', () => {
  it('is one line, whatever its texts', () => {
    expect(annotation('error', 'a: b, 50 %', 'one\r\ntwo: 100 %')).toBe(
      '::error title=a%3A b%2C 50 %25::one%0D%0Atwo: 100 %25\n',
    );
    expect(annotation('notice', '', '::error::x')).toBe('::notice title=::::error::x\n');
  });
});

describe('text in Markdown', () => {
  it.each([
    ['v1', 'v1'],
    ['2026-11-01, 1.5 ms (p99)', '2026-11-01, 1.5 ms (p99)'],
    ['a|b', 'a&#124;b'],
    ['<img src=x>', '&lt;img src=x&gt;'],
    ['a\n# b\t', 'a &#35; b '],
    ['[x](https://y)', '&#91;x&#93;(https&#58;//y)'],
    ['&amp; @team', '&amp;amp; &#64;team'],
    ['www.example.com', 'www&#46;example&#46;com'],
    ['`code`', '&#96;code&#96;'],
  ])('of %j is %j', (text, escaped) => {
    expect(markdownText(text)).toBe(escaped);
  });
});
