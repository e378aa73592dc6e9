import { secondMs } from '../../../src/base/time.ts';
import { formatDuration, parseDuration } from '../../../src/config/duration.ts';
import type { TimeSpan } from '../format/time.ts';

/**
 * All state of a page, as its address has it. Pure: nothing here reads the clock or the browser.
 *
 * Times are relative (`-6h` to `now`) or absolute, never both: an address that mixes them is read as
 * absolute. Defaults and keys that are not known are left out of what is written.
 */

/** A view of the dashboard. */
export type Route =
  | { readonly view: 'now' }
  | { readonly view: 'incident'; readonly id: string }
  | { readonly view: 'model'; readonly model: string }
  | { readonly view: 'compare' }
  | { readonly view: 'pipeline' }
  | { readonly view: 'unknown'; readonly path: string };

/** Keys of the query, in the order in which they are written. */
const keys = [
  ...[
    'from',
    'to',
    'incident',
    'model',
    'version',
    'region',
    'request_type',
    'attributes',
    'start',
    'stage',
    'q',
    'by',
  ],
  ...['view', 'sort', 'filter', 'hide', 'table', 'at'],
  ...['a.version', 'b.version', 'a.from', 'a.to', 'b.from', 'b.to', 'stages'],
  ...['only', 'utc', 'theme'],
] as const;
export type Key = (typeof keys)[number];

const defaults: Readonly<Partial<Record<Key, string>>> = {
  from: '-6h',
  to: 'now',
  start: 'warm',
  stage: 'total',
};
/** Longest value of a key: the limit of names in the API. */
const maxLength = 4096;
/** Keys that a link to another view takes with it. */
const carried: readonly Key[] = ['from', 'to', 'utc', 'theme'];
/** Keys that it takes along from an incident to its model, and back. */
const contextKeys: readonly Key[] = ['incident', 'stage'];
/** Keys that it takes along between pages of one model. */
const filterKeys: readonly Key[] = ['version', 'region', 'request_type', 'attributes', 'start'];

export type Params = Readonly<Partial<Record<Key, string>>>;
/** Changes to `Params`; undefined or an empty text removes a key. */
export type Changes = Readonly<Partial<Record<Key, string | undefined>>>;

export interface Place {
  readonly route: Route;
  readonly params: Params;
  /** Times that cannot be read: the page says so, and they stay in its address until a range is chosen. */
  readonly wrong: Params;
  /** Panel to scroll to, without "#". */
  readonly hash: string;
}

/** Reads a path and query. `nowMs` settles a range that mixes relative and absolute times. */
export function parsePlace(url: URL, nowMs: number): Place {
  const params: Partial<Record<Key, string>> = {};
  for (const key of keys) {
    const value = url.searchParams.get(key)?.trim() ?? '';
    if (value !== '' && value.length <= maxLength) params[key] = value;
  }
  const wrong: Partial<Record<Key, string>> = {};
  for (const key of timeKeys) {
    const text = params[key];
    if (text === undefined || timeOf(text, nowMs) !== undefined) continue;
    wrong[key] = text;
    delete params[key];
  }
  for (const prefix of ['', 'a.', 'b.'] as const) {
    readRange(params, `${prefix}from`, `${prefix}to`, nowMs);
  }
  const hash = url.hash.slice(1);
  return { route: parsePath(url.pathname), params: withoutDefaults(params), wrong, hash };
}

const timeKeys = ['from', 'to', 'a.from', 'a.to', 'b.from', 'b.to'] as const;

/** Path, query and hash of a place. */
export function formatPlace({ route, params, wrong, hash }: Place): string {
  const kept: Params = { ...wrong, ...withoutDefaults(params) };
  const query = keys
    .filter((key) => kept[key] !== undefined)
    .map((key) => `${key}=${encodeValue(kept[key] ?? '')}`)
    .join('&');
  return `${formatPath(route)}${query && `?${query}`}${hash && `#${hash}`}`;
}

/** The value of a key, or its default. */
export function paramOf(params: Params, key: Key): string | undefined {
  return params[key] ?? defaults[key];
}

export function withParams(place: Place, changes: Changes): Place {
  const params = { ...place.params, ...changes };
  const kept = Object.entries(params).filter(([, value]) => value !== undefined && value !== '');
  const wrong = Object.entries(place.wrong).filter(([key]) => !Object.hasOwn(changes, key));
  return {
    ...place,
    params: withoutDefaults(Object.fromEntries(kept)),
    wrong: Object.fromEntries(wrong),
  };
}

/**
 * Another view, over the same time. From an incident to its model, to comparisons and back a link takes the incident and
 * the stage along; between pages of one model also which requests they are about.
 */
export function linkTo(place: Place, route: Route, changes: Changes = {}): Place {
  const keys = [...carried, ...sharedKeys(place, route, changes.model)];
  const kept = keys.map((key) => [key, place.params[key]]);
  const incident = place.route.view === 'incident' ? place.route.id : place.params.incident;
  const hasIncident = keys.includes('incident') && route.view !== 'incident';
  const context = { ...Object.fromEntries(kept), incident: hasIncident ? incident : undefined };
  return withParams({ route, params: {}, wrong: {}, hash: '' }, { ...context, ...changes });
}

/** Keys that the page and the linked one share, apart from the range. */
function sharedKeys(place: Place, route: Route, linkedModel: string | undefined): readonly Key[] {
  if (place.route.view === 'incident') return isOfModel(route) ? contextKeys : [];
  const model = modelOf(place);
  if (model === undefined) return [];
  if (route.view === 'incident') return route.id === place.params.incident ? contextKeys : [];
  const isSame = model === (route.view === 'model' ? route.model : linkedModel);
  return isOfModel(route) && isSame ? [...contextKeys, ...filterKeys] : [];
}

function isOfModel({ view }: Route): boolean {
  return view === 'model' || view === 'compare';
}

/** The model that a page is about. */
export function modelOf({ route, params }: Place): string | undefined {
  if (route.view === 'model') return route.model;
  return route.view === 'compare' ? params.model : undefined;
}

/** True if a comparison is of two times. */
export function isOfTimes({ params }: Pick<Place, 'params'>): boolean {
  return params['a.from'] !== undefined && params['b.from'] !== undefined;
}

/** True if a page shows its range: an incident, two times and the pipeline have their own. */
export function hasRange(place: Place): boolean {
  const { view } = place.route;
  return view === 'now' || view === 'model' || (view === 'compare' && !isOfTimes(place));
}

export function isRelative({ params }: Place): boolean {
  return !isAbsoluteTime(paramOf(params, 'from') ?? '');
}

export function rangeOf({ params }: Place, nowMs: number): TimeSpan {
  return {
    fromMs: timeOf(paramOf(params, 'from') ?? '', nowMs) ?? nowMs,
    toMs: timeOf(paramOf(params, 'to') ?? '', nowMs) ?? nowMs,
  };
}

/** The same place with absolute times: what a copied link has. */
export function freeze(place: Place, range: TimeSpan, nowMs: number): Place {
  const others: Partial<Record<Key, string>> = {};
  for (const key of ['a.from', 'a.to', 'b.from', 'b.to'] as const) {
    const text = place.params[key];
    const ms = text === undefined ? undefined : timeOf(text, nowMs);
    if (ms !== undefined) others[key] = formatAbsolute(ms);
  }
  return withParams(place, { ...others, ...absolute(range) });
}

/**
 * The range before or after this one, of the same length. Going back freezes; going forward to now or past it
 * gives the relative range of this length.
 */
export function stepRange(place: Place, direction: -1 | 1, nowMs: number): Place {
  const { fromMs, toMs } = rangeOf(place, nowMs);
  const lengthMs = Math.max(1000, toMs - fromMs);
  const moved = {
    fromMs: fromMs + direction * lengthMs,
    toMs: toMs + direction * lengthMs,
  };
  // The clock has gone on since a step back: what ends almost now is what was left.
  if (direction > 0 && moved.toMs >= nowMs - lengthMs / 10) {
    return withParams(place, { from: `-${lengthText(lengthMs)}`, to: undefined });
  }
  return withParams(place, absolute(moved));
}

/** `from` and `to` of the query for an absolute range. */
export function absolute({ fromMs, toMs }: TimeSpan): { from: string; to: string } {
  return { from: formatAbsolute(fromMs), to: formatAbsolute(toMs) };
}

/** Forms that `timeOf` reads, for who wrote something else. */
export const timeForms =
  'now, a duration ago such as -6h, -30m or -7d, RFC 3339 such as 2026-11-25T10:00:00Z, or milliseconds since 1970';

/** Epoch milliseconds of `now`, `-90m`, epoch milliseconds or RFC 3339; undefined for anything else. */
export function timeOf(text: string, nowMs: number): number | undefined {
  if (text === 'now') return nowMs;
  if (/^-\d{1,7}(\.\d{1,3})?[a-z]/.test(text)) {
    const agoMs = parseDuration(text.slice(1));
    return agoMs === undefined ? undefined : nowMs - agoMs;
  }
  if (/^\d{1,15}$/.test(text)) return Number(text);
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text))
    return undefined;
  const ms = Date.parse(text);
  return Number.isFinite(ms) ? ms : undefined;
}

function isAbsoluteTime(text: string): boolean {
  return text !== 'now' && !text.startsWith('-');
}

/** Settles both ends as relative or absolute. */
function readRange(
  params: Partial<Record<Key, string>>,
  from: 'from' | 'a.from' | 'b.from',
  to: 'to' | 'a.to' | 'b.to',
  nowMs: number,
): void {
  const ends = [from, to].map((key) => params[key]).filter((text) => text !== undefined);
  if (!ends.some(isAbsoluteTime)) return;
  if (params[to] === undefined && from !== 'from') return;
  const toMs = timeOf(params[to] ?? 'now', nowMs) ?? nowMs;
  params[to] = formatAbsolute(toMs);
  const fromText = params[from] ?? defaults.from ?? 'now';
  // An end that is fixed and a beginning that is not: the beginning counts from the end.
  const fromMs = timeOf(fromText, isAbsoluteTime(fromText) ? nowMs : toMs) ?? toMs;
  params[from] = formatAbsolute(fromMs);
}

function withoutDefaults(params: Partial<Record<Key, string>>): Params {
  const kept = Object.entries(params).filter(
    ([key, value]) => value !== undefined && value !== '' && value !== defaults[key as Key],
  );
  return Object.fromEntries(kept);
}

/** RFC 3339 in UTC, as the API takes it, without milliseconds that are zero. */
function formatAbsolute(ms: number): string {
  const text = new Date(clampTime(ms)).toISOString();
  return text.replace(/\.000Z$/, 'Z');
}

function clampTime(ms: number): number {
  const [least, most] = [0, Date.UTC(9999, 11, 31)];
  return Math.min(Math.max(Math.round(ms), least), most);
}

/** A length in whole seconds, `6h`, `90m`, `3d`; a day is `24h`, as the picker has it. */
export function lengthText(ms: number): string {
  const text = formatDuration(Math.max(1, Math.round(ms / secondMs)) * secondMs);
  return text === '1d' ? '24h' : text;
}

function parsePath(path: string): Route {
  const parts = path.split('/').slice(1);
  const [first = '', second = ''] = parts;
  if (parts.length === 1) {
    if (first === '') return { view: 'now' };
    if (first === 'compare' || first === 'pipeline') return { view: first };
  }
  if (parts.length === 2 && second !== '') {
    if (first === 'incidents') return { view: 'incident', id: decode(second) };
    if (first === 'models') return { view: 'model', model: nameOf(decode(second)) };
  }
  return { view: 'unknown', path };
}

function formatPath(route: Route): string {
  switch (route.view) {
    case 'now':
      return '/';
    case 'incident':
      return `/incidents/${encodeURIComponent(route.id)}`;
    case 'model':
      return `/models/${encodeURIComponent(segmentOf(route.model))}`;
    case 'unknown':
      return route.path;
    default:
      return `/${route.view}`;
  }
}

/** A name as a part of a path. Browsers resolve `.` and `..`, encoded or not, so these have a `~` in front. */
function segmentOf(name: string): string {
  return /^~*\.{1,2}$/.test(name) ? `~${name}` : name;
}

function nameOf(segment: string): string {
  return /^~+\.{1,2}$/.test(segment) ? segment.slice(1) : segment;
}

/** A name that is no valid percent-encoding stands for itself. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Colons, slashes and commas stay readable. */
function encodeValue(text: string): string {
  return encodeURIComponent(text).replace(/%(3A|2F|2C)/g, (_, code: string) =>
    code === '3A' ? ':' : code === '2F' ? '/' : ',',
  );
}
