import { expect, it } from 'vitest';
import { compareVersions } from '../../../src/compare/verdict/compare-versions.ts';
import { minutesOf } from '../traffic.ts';

it('a version that is as fast does not read as one time as slow', () => {
  const minutes = minutesOf('a', 30, undefined, { requests: 300 }).map((minute) => {
    const { baseline: candidate } = minute;
    return candidate === undefined ? minute : { ...minute, candidate };
  });
  const { verdict, reason } = compareVersions({ candidate: 'v2', baseline: 'v1', minutes });
  expect(verdict).toBe('pass');
  expect(reason).toMatch(/^p99 is about that of version v1 \([\d,.]+ ms against/);
});
