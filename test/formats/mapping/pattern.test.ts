import { describe, expect, it } from 'vitest';
import { parsePath } from '../../../src/formats/mapping/path.ts';
import { patternProblem } from '../../../src/formats/mapping/pattern.ts';

describe('a pattern', () => {
  it.each([
    '^/predict/([^/?]+)',
    '^https?://[^/]+/v1/models/([^/:]+):predict$',
    '^[0-9a-f]{2}-([0-9a-f]{32})-',
    '^/v\\d/([\\w.-]+)/?$',
    '^(.+)$',
    '^([^\\]]*)\\]',
  ])('%s is taken', (pattern) => {
    expect(patternProblem(pattern)).toBeUndefined();
  });

  it.each([
    ['(a+)+', 'must begin with ^'],
    ['^(a+)+$', '"+" must follow a character or a class'],
    ['^(?:a|b)(c)', '| is not supported'],
    ['^(?=a)b', '"?" must follow a character'],
    ['^a+?(b)', '"?" must follow'],
    ['^[^/]+/?/?\\w(x)', 'must come a character'],
    ['^(a+)a', 'must come a character that a does not match'],
    ['^.*(x)', 'must come a character that . does not match'],
    ['^a?a?a?(a)', 'must come a character'],
    ['^[^/]+/?(.*)', 'must come a character'],
    ['^[^/]+[^/]+(x)', 'must come a character'],
    ['^\\w+\\d(x)', 'must come a character'],
    ['^a', 'one group, not 0'],
    ['^(a)(b)', 'one group, not 2'],
    ['^(a', 'it is not one'],
    ['^(a)\\1', 'it is not one'],
    ['^(a){1,9}', 'it is not one'],
    ['^([z-a])', 'it is not one'],
    ['', 'it must begin with ^'],
  ])('%s is refused', (pattern, why) => {
    expect(patternProblem(pattern)).toContain(why);
  });
});

describe('a path', () => {
  it.each([
    ['a', ['a']],
    ['a.b[0].c', ['a', 'b', 0, 'c']],
    ['[2][3]', [2, 3]],
    ['a."b.c[0]".d', ['a', 'b.c[0]', 'd']],
    ['"a\\"b"', ['a"b']],
    ['@timestamp.x-y', ['@timestamp', 'x-y']],
    ['__proto__', ['__proto__']],
  ])('%s is read', (text, path) => {
    expect(parsePath(text)).toEqual(path);
  });

  it.each([
    '',
    '.',
    '.a',
    'a.',
    'a..b',
    'a[',
    'a[x]',
    'a[-1]',
    'a]',
    'a b',
    '"a',
    'a"b"',
    '""',
    'a.[0]',
  ])('%j is refused', (text) => {
    expect(parsePath(text)).toBeUndefined();
  });
});
