import { describe, expect, it } from 'vitest';
import { incidentPath, isPagePath, movedPath, pageUrl } from '../../src/base/dashboard-paths.ts';

describe('paths of the dashboard', () => {
  it.each([
    ['a3f0', '/incidents/a3f0'],
    ['a/../b?c#d', '/incidents/a%2F..%2Fb%3Fc%23d'],
    ["it's (new)*!", '/incidents/it%27s%20%28new%29%2A%21'],
    ['half \ud800', '/incidents/half%20%EF%BF%BD'],
  ])('of the anomaly %j is %s', (id, path) => {
    expect(incidentPath(id)).toBe(path);
    expect(isPagePath(path)).toBe(true);
  });

  it.each(['/anomalies/a3f0', '/incidents', '/incidents/', '/incidents/a/b', '/now', '//'])(
    '%s is no page',
    (path) => expect(isPagePath(path)).toBe(false),
  );

  it.each([
    ['/anomalies/a3f0', '/incidents/a3f0'],
    ['/anomalies/a%2Fb', '/incidents/a%2Fb'],
    ['/anomalies', undefined],
    ['/anomalies/', undefined],
    ['/anomalies/a/b', undefined],
    ['/v1/anomalies/a3f0', undefined],
    ['/incidents/a3f0', undefined],
  ])('%s has moved to %s', (path, to) => expect(movedPath(path)).toBe(to));

  it.each([
    ['https://tailmark.example.com', 'https://tailmark.example.com/pipeline'],
    ['https://tailmark.example.com/', 'https://tailmark.example.com/pipeline'],
    ['https://example.com/tools/tailmark//', 'https://example.com/tools/tailmark/pipeline'],
    ['https://example.com/?utc=1', 'https://example.com/pipeline?utc=1'],
    ['nowhere', undefined],
  ])('behind %s a page is at %s', (base, url) => {
    expect(pageUrl(base, '/pipeline')).toBe(url);
  });
});
