import { describe, expect, it } from 'vitest';
import { cacheDir } from '../../src/local/cache-dir.ts';

describe('cacheDir', () => {
  it.each([
    ['own setting first', { TAILMARK_CACHE_DIR: '/a', XDG_CACHE_HOME: '/b', HOME: '/h' }, '/a'],
    ['XDG next', { XDG_CACHE_HOME: '/b', HOME: '/h' }, '/b/tailmark'],
    ['a relative XDG is ignored', { XDG_CACHE_HOME: 'b', HOME: '/h' }, '/h/.cache/tailmark'],
    ['empty settings are none', { TAILMARK_CACHE_DIR: '', HOME: '/h' }, '/h/.cache/tailmark'],
  ])('%s', (_name, env, expected) => expect(cacheDir(env, 'linux')).toBe(expected));

  it('follows the habit of macOS', () => {
    expect(cacheDir({ HOME: '/h' }, 'darwin')).toBe('/h/Library/Caches/tailmark');
  });
});
