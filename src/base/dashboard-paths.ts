/**
 * The addresses of the dashboard's pages. Messages, commands and the server take them from here. The
 * interface reads and writes the same (`ui/src/state/url.ts`), which a test compares.
 */

/** Paths of all pages; `*` is one name or id, percent-encoded. */
const pages = ['/', '/incidents/*', '/models/*', '/compare', '/pipeline'] as const;
/** Paths that links of earlier versions have, and the page that each leads to. */
const moved = [{ from: /^\/anomalies\/([^/]+)$/, to: '/incidents/$1' }] as const;

const pagePattern = new RegExp(`^(${pages.map((page) => page.replace('*', '[^/]+')).join('|')})$`);

/** The page of all models. */
export const nowPath = '/';

/** The page of an anomaly, by its id or the id of an affected series. */
export function incidentPath(id: string): string {
  return `/incidents/${encodedSegment(id)}`;
}

/** True for the path of a page of the dashboard. */
export function isPagePath(path: string): boolean {
  return pagePattern.test(path);
}

/** The present path for one of an earlier version; undefined for any other path. */
export function movedPath(path: string): string | undefined {
  const rule = moved.find(({ from }) => from.test(path));
  return rule && path.replace(rule.from, rule.to);
}

/**
 * The full address of a page.
 *
 * @param base where people reach the dashboard; a path, a query and slashes at its end are allowed.
 */
export function pageUrl(base: string, path: string): string | undefined {
  if (!URL.canParse(base)) return undefined;
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  return url.href;
}

/** Text as one segment of a path, or a value of a query: any but `.` and `..`, which a URL resolves. */
export function encodedSegment(text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd')).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
