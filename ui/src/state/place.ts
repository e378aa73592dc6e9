import { computed, signal } from '@preact/signals';
import type { TimeSpan } from '../format/time.ts';
import { nowMs } from './now.ts';
import {
  type Changes,
  formatPlace,
  freeze,
  hasRange,
  isRelative,
  linkTo,
  type Place,
  parsePlace,
  type Route,
  rangeOf,
  stepRange,
  withParams,
} from './url.ts';

const current = signal(parsePlace(new URL(location.href), Date.now()));

/** The page's present place. */
export const place = computed(() => current.value);
/** True if the range moves with the clock. */
export const isLive = computed(() => isRelative(current.value));
/** The one panel to show, or undefined for all. */
export const onlyPanel = computed(() => current.value.params.only);

/** The range that the main answer of the view covers, as the server rounded it, and how many steps still fill. */
export const shownRange = signal<(TimeSpan & { readonly openSteps: number }) | undefined>(
  undefined,
);

/** Longest step of a default range, to which the server rounds its start. */
const longestStepMs = 600_000;

/** Start of a default range that begins with the first data, which is younger than the default; undefined of others. */
export const firstDataMs = computed(() => {
  const { params, route } = current.value;
  const fromMs = shownRange.value?.fromMs;
  if (!isLive.value || params.from !== undefined || fromMs === undefined) return undefined;
  // An incident has its own range.
  if (route.view === 'incident') return undefined;
  return fromMs > rangeOf(current.value, nowMs()).fromMs + longestStepMs ? fromMs : undefined;
});

/** Follows the browser's Back and Forward, and clicks on links to the dashboard's own views. */
export function startRouting(): void {
  history.replaceState(null, '', formatPlace(current.value));
  addEventListener('popstate', () => {
    show(parsePlace(new URL(location.href), Date.now()));
  });
  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const isPlain =
      event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (link === null || !isPlain || event.defaultPrevented) return;
    const isOurs = link.origin === location.origin && link.target === '';
    if (!isOurs || link.hasAttribute('download') || link.hash !== '') return;
    const next = parsePlace(new URL(link.href), Date.now());
    if (next.route.view === 'unknown') return;
    event.preventDefault();
    go(next);
  });
}

/** Goes to a place. `replace` keeps it out of the history: hover, filter text. */
function go(next: Place, { replace = false } = {}): void {
  const isOtherPage =
    JSON.stringify(next.route) !== JSON.stringify(current.value.route) && next.hash === '';
  const href = formatPlace(next);
  if (replace) history.replaceState(null, '', href);
  else if (href !== location.pathname + location.search + location.hash) {
    history.pushState(null, '', href);
  }
  show(next);
  if (isOtherPage) scrollTo(0, 0);
}

/** Changes keys of the query; undefined removes one. */
export function setParams(changes: Changes, options?: { readonly replace?: boolean }): void {
  go(withParams(current.value, changes), options);
}

/** Address of a view over the same time. */
export function hrefTo(route: Route, changes?: Changes): string {
  return formatPlace(linkTo(place.value, route, changes));
}

/** Address of this page with other parameters. */
export function hrefWith(changes: Changes): string {
  return formatPlace(withParams(place.value, changes));
}

export function step(direction: -1 | 1): void {
  if (!hasRange(current.value)) return;
  go(stepRange(current.value, direction, Date.now()));
}

/** The address of this page, or of a panel of it, with absolute times. */
export function frozenHref(panel = ''): string {
  const nowMs = Date.now();
  const range = (isLive.value ? shownRange.value : undefined) ?? rangeOf(current.value, nowMs);
  const frozen = freeze({ ...current.value, hash: panel }, range, nowMs);
  return location.origin + formatPlace(frozen);
}

function show(next: Place): void {
  if (JSON.stringify(next.route) !== JSON.stringify(current.value.route)) {
    shownRange.value = undefined;
  }
  current.value = next;
}
