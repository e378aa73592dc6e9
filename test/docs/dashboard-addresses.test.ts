import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { incidentPath, isPagePath } from '../../src/base/dashboard-paths.ts';
import { formatPlace, parsePlace } from '../../ui/src/state/url.ts';
import { documents } from './documents.ts';

const files = ['deploy/grafana-dashboard.json', 'deploy/keda-scaledobject.yaml'].map((path) => ({
  path,
  text: readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'),
}));
/** Hosts that stand for a tailmark, and the variable that Grafana has for one. */
const host =
  /(?:https?:\/\/(?:tailmark\.example\.com|127\.0\.0\.1:(?:9464|46543))|\$\{tailmark:raw\})/;
const address = new RegExp(`${host.source}(/[^\\s"'\`)<>\\\\]*)?`, 'g');
/** Paths of the same server that are no pages. */
const otherPaths = /^\/(v1\/.*|healthz|readyz|metrics|openapi\.json)$/;

const addresses = [...documents(), ...files].flatMap(({ path, text }) =>
  [...text.matchAll(address)].map(([, rest = '/']) => ({ path, rest: filled(rest) })),
);

/** With an id where Grafana would put one. */
function filled(path: string): string {
  const filledIn = path.replaceAll(/\$\{[\w.]+\}/g, 'a3f0');
  return filledIn.replace(/[.,:;]$/, '');
}

/** What an address shows; '' where it leads nowhere. */
function shown(rest: string): string {
  const url = new URL(rest, 'http://127.0.0.1:9464');
  if (otherPaths.test(url.pathname)) return 'not a page';
  if (!isPagePath(url.pathname)) return '';
  return formatPlace(parsePlace(url, 0));
}

describe('addresses of the dashboard in the documentation', () => {
  it('are found', () => {
    expect(addresses).toContainEqual({
      path: 'deploy/grafana-dashboard.json',
      rest: incidentPath('a3f0'),
    });
    expect(addresses.map(({ path }) => path)).toContain('docs/how-to/dashboard.md');
    expect(addresses.map(({ path }) => path)).toContain('docs/reference/alert-messages.md');
  });

  it.each([...new Map(addresses.map((each) => [`${each.path} ${each.rest}`, each])).values()])(
    '$path shows a page at $rest',
    ({ rest }) => {
      expect(shown(rest)).not.toBe('');
      // A key that the page does not know would be dropped, and what it promises not shown.
      const asked = new URL(rest, 'http://127.0.0.1:9464').searchParams;
      const kept = new URL(shown(rest), 'http://127.0.0.1:9464').searchParams;
      const defaults = new Set(['from=-6h', 'to=now', 'start=warm', 'stage=total']);
      for (const [key, value] of asked) {
        if (isPagePath(rest.split('?')[0] ?? '') && !defaults.has(`${key}=${value}`))
          expect(kept.get(key)).toBe(value);
      }
    },
  );

  it.each([
    ['/anomalies/a3f0', ''],
    ['/incident/a3f0', ''],
    ['/models', ''],
    ['/models/ranker?from=-1h', '/models/ranker?from=-1h'],
    ['/v1/anomalies', 'not a page'],
  ])('%s would show %j', (rest, page) => expect(shown(rest)).toBe(page));
});
