import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { incidentPath, isPagePath, movedPath } from '../../src/base/dashboard-paths.ts';
import {
  formatPlace,
  freeze,
  hasRange,
  isRelative,
  lengthText,
  linkTo,
  type Place,
  parsePlace,
  rangeOf,
  stepRange,
  timeOf,
  withParams,
} from '../../ui/src/state/url.ts';

const nowMs = Date.UTC(2026, 10, 25, 12);
const hour = 3_600_000;
const parse = (path: string): Place => parsePlace(new URL(path, 'http://127.0.0.1:9464'), nowMs);
const roundTrip = (path: string) => formatPlace(parse(path));

describe('an address', () => {
  it.each([
    '/',
    '/pipeline',
    '/compare?a.version=v1&b.version=v2',
    '/incidents/5f2c?from=2026-11-25T10:00:00Z&to=2026-11-25T10:30:10Z',
    '/models/ranker?from=-24h&region=eu-west-1&start=all&stage=queue&hide=p50,p95&utc=1',
    '/models/org%2Fmodel?view=density',
    '/models/llm?attributes=adapter%3Dlora-7',
    '/models/~.',
    '/models/~..',
    '/models/~~..',
    '/models/~a',
    '/?only=models&theme=dark#models',
  ])('%s is written as it was read', (path) => {
    expect(roundTrip(path)).toBe(path);
  });

  it.each([
    ['leaves defaults out', '/models/a?from=-6h&to=now&start=warm&stage=total', '/models/a'],
    ['drops keys that are not known', '/?x=1&from=-1h&__proto__=2', '/?from=-1h'],
    ['keeps times that cannot be read', '/?to=-1x&from=yesterday', '/?from=yesterday&to=-1x'],
    ['reads weeks, milliseconds and parts, as the API does', '/?from=-1.5w', '/?from=-1.5w'],
    ['drops a value longer than any name', `/?model=${'a'.repeat(4_097)}`, '/'],
    ['writes keys in one order', '/?utc=1&from=-1h', '/?from=-1h&utc=1'],
    [
      'reads epoch milliseconds',
      `/?from=${nowMs - hour}&to=${nowMs}`,
      '/?from=2026-11-25T11:00:00Z&to=2026-11-25T12:00:00Z',
    ],
    [
      'reads an offset',
      '/?from=2026-11-25T11:00%2B01:00&to=2026-11-25T11:00:00Z',
      '/?from=2026-11-25T10:00:00Z&to=2026-11-25T11:00:00Z',
    ],
    [
      'reads a time without seconds, which the API does not',
      '/?from=2026-11-25T10:00Z&to=2026-11-25T11:00Z',
      '/?from=2026-11-25T10:00:00Z&to=2026-11-25T11:00:00Z',
    ],
    [
      'reads a day',
      '/?from=2026-11-24&to=2026-11-25',
      '/?from=2026-11-24T00:00:00Z&to=2026-11-25T00:00:00Z',
    ],
    [
      'keeps year 1970, for the server to refuse',
      '/?from=0&to=1000',
      '/?from=1970-01-01T00:00:00Z&to=1970-01-01T00:00:01Z',
    ],
    [
      'keeps a range that ends before it begins',
      '/?from=2026-11-25&to=2026-11-24',
      '/?from=2026-11-25T00:00:00Z&to=2026-11-24T00:00:00Z',
    ],
  ])('%s', (_, path, expected) => {
    expect(roundTrip(path)).toBe(expected);
  });

  it.each([
    ['/?from=2026-11-25T10:00:00Z', '/?from=2026-11-25T10:00:00Z&to=2026-11-25T12:00:00Z'],
    ['/?from=2026-11-25T10:00:00Z&to=now', '/?from=2026-11-25T10:00:00Z&to=2026-11-25T12:00:00Z'],
    ['/?from=-2h&to=2026-11-25T10:00:00Z', '/?from=2026-11-25T08:00:00Z&to=2026-11-25T10:00:00Z'],
    ['/?to=2026-11-25T10:00:00Z', '/?from=2026-11-25T04:00:00Z&to=2026-11-25T10:00:00Z'],
  ])('%s mixes relative and absolute: it becomes absolute', (path, expected) => {
    expect(roundTrip(path)).toBe(expected);
    expect(isRelative(parse(path))).toBe(false);
  });

  it.each([
    '<script>alert(1)</script>',
    'a"b\'c',
    'a/b?c#d',
    '__other__',
    'a\nb',
    'نموذج',
    '..',
    '%',
    '100%25',
  ])('keeps the name %j', (model) => {
    const href = formatPlace(linkTo(parse('/'), { view: 'model', model }));
    const { route } = parse(href);
    expect(route).toEqual(model === '..' ? expect.anything() : { view: 'model', model });
    const filtered = withParams(parse('/'), { filter: model, version: model });
    expect(parse(formatPlace(filtered)).params).toEqual({ filter: model, version: model });
  });

  it('of anything is written and read back to itself', () => {
    const value = fc.string({ minLength: 1, maxLength: 40 }).filter((text) => text.trim() === text);
    const params = fc.record(
      { model: value, version: value, filter: value, sort: value, hide: value },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(params, (changes) => {
        const place = withParams(parse('/compare'), changes);
        expect(parse(formatPlace(place))).toEqual(place);
      }),
    );
  });
});

describe('a time that cannot be read', () => {
  it('is known beside the range that is shown instead, until another one is chosen', () => {
    const place = parse('/models/a?from=-30x&to=now&b.from=soon');
    expect(place.wrong).toEqual({ from: '-30x', 'b.from': 'soon' });
    expect(rangeOf(place, nowMs)).toEqual({ fromMs: nowMs - 6 * hour, toMs: nowMs });
    expect(formatPlace(withParams(place, { stage: 'queue' }))).toBe(
      '/models/a?from=-30x&stage=queue&b.from=soon',
    );
    expect(formatPlace(withParams(place, { from: '-1h', to: undefined }))).toBe(
      '/models/a?from=-1h&b.from=soon',
    );
    expect(formatPlace(linkTo(place, { view: 'now' }))).toBe('/');
  });
});

describe('the way from an incident', () => {
  const incident = parse('/incidents/5f2c?from=-1h');
  const range = { from: '2026-11-25T10:00:00Z', to: '2026-11-25T11:00:00Z' };
  const model = linkTo(
    incident,
    { view: 'model', model: 'ranker' },
    { ...range, stage: 'queue', region: 'eu' },
  );
  const inRange = 'from=2026-11-25T10:00:00Z&to=2026-11-25T11:00:00Z';

  it('to its model and a comparison, and back, keeps incident, range and stage', () => {
    expect(formatPlace(model)).toBe(
      `/models/ranker?${inRange}&incident=5f2c&region=eu&stage=queue`,
    );
    const comparison = linkTo(model, { view: 'compare' }, { model: 'ranker' });
    expect(formatPlace(comparison)).toBe(
      `/compare?${inRange}&incident=5f2c&model=ranker&region=eu&stage=queue`,
    );
    const back = `/incidents/5f2c?${inRange}&stage=queue`;
    for (const place of [model, comparison]) {
      expect(formatPlace(linkTo(place, { view: 'incident', id: '5f2c' }))).toBe(back);
    }
    expect(formatPlace(linkTo(comparison, { view: 'model', model: 'ranker' }))).toBe(
      formatPlace(model),
    );
  });

  it('ends at another model, another incident and the other views, which keep the range', () => {
    const others = [
      linkTo(model, { view: 'model', model: 'embedder' }),
      linkTo(model, { view: 'incident', id: '77aa' }),
      linkTo(model, { view: 'now' }),
      linkTo(model, { view: 'pipeline' }),
      linkTo(model, { view: 'compare' }),
    ].map(formatPlace);
    expect(others).toEqual([
      `/models/embedder?${inRange}`,
      `/incidents/77aa?${inRange}`,
      `/?${inRange}`,
      `/pipeline?${inRange}`,
      `/compare?${inRange}`,
    ]);
  });
});

describe('the picker', () => {
  it.each([
    ['/', true],
    ['/models/ranker', true],
    ['/compare', true],
    ['/compare?model=a&a.version=v1&b.version=v2', true],
    ['/compare?model=a&a.from=-3h&a.to=-2h&b.from=-1h&b.to=now', false],
    ['/incidents/5f2c', false],
    ['/pipeline', false],
    ['/nothing', false],
  ])('is on a page that shows its range: %s', (path, expected) => {
    expect(hasRange(parse(path))).toBe(expected);
  });
});

describe('a range', () => {
  it('steps back from a relative one, which freezes it, by its length', () => {
    const back = stepRange(parse('/?from=-6h'), -1, nowMs);
    expect(formatPlace(back)).toBe('/?from=2026-11-25T00:00:00Z&to=2026-11-25T06:00:00Z');
    expect(formatPlace(stepRange(back, -1, nowMs))).toBe(
      '/?from=2026-11-24T18:00:00Z&to=2026-11-25T00:00:00Z',
    );
  });

  it('steps forward, and past now becomes the relative one of its length again', () => {
    const back = stepRange(parse('/?from=-90m'), -1, nowMs);
    expect(formatPlace(stepRange(back, 1, nowMs))).toBe('/?from=-90m');
    expect(formatPlace(stepRange(back, 1, nowMs + 8 * 60_000))).toBe('/?from=-90m');
    expect(isRelative(stepRange(back, 1, nowMs + 10 * 60_000))).toBe(false);
    expect(formatPlace(stepRange(stepRange(back, -1, nowMs), 1, nowMs))).toBe(formatPlace(back));
  });

  it('is the same an hour later once it is frozen, those of a comparison too', () => {
    const place = parse('/compare?from=-1h&a.from=-3h&a.to=-2h&b.from=-1h&b.to=now');
    const range = rangeOf(place, nowMs);
    const frozen = formatPlace(freeze(place, range, nowMs));
    const later = parsePlace(new URL(frozen, 'http://other'), nowMs + hour);
    expect(rangeOf(later, nowMs + hour)).toEqual(range);
    expect(later.params['a.from']).toBe('2026-11-25T09:00:00Z');
    expect(later.params['b.to']).toBe('2026-11-25T12:00:00Z');
    expect(isRelative(later)).toBe(false);
  });

  it('goes to other views with the zone and the theme, and without what belongs to this one', () => {
    const place = parse('/models/a?from=-1h&version=v2&view=density&utc=1&theme=dark');
    expect(formatPlace(linkTo(place, { view: 'now' }))).toBe('/?from=-1h&utc=1&theme=dark');
  });

  it.each([
    ['now', nowMs],
    ['-90s', nowMs - 90_000],
    ['-3d', nowMs - 72 * hour],
    ['2026-11-25T11:00:00.500Z', nowMs - hour + 500],
    ['-1.5h', nowMs - 1.5 * hour],
    ['-2w', nowMs - 336 * hour],
    ['-30x', undefined],
    ['-6', undefined],
    ['6h', undefined],
    ['2026-13-01', undefined],
    ['2026-11-25T11:00', undefined],
    ['', undefined],
  ])('has the time %j', (text, ms) => {
    expect(timeOf(text, nowMs)).toBe(ms);
  });

  it.each([
    [90_000, '90s'],
    [90 * 60_000, '90m'],
    [6 * hour, '6h'],
    [24 * hour, '24h'],
    [72 * hour, '3d'],
    [1_234_567, '1235s'],
  ])('of %i ms is %s', (ms, text) => {
    expect(lengthText(ms)).toBe(text);
  });
});

describe('addresses that the server and messages know', () => {
  it('open the incident with that id', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (id) => {
        // A URL resolves these two as folders, encoded or not. No id is one of them.
        fc.pre(id !== '.' && id !== '..');
        expect(parse(incidentPath(id)).route).toEqual({ view: 'incident', id });
      }),
    );
    expect(parse(movedPath('/anomalies/a%2Fb') ?? '').route).toEqual({
      view: 'incident',
      id: 'a/b',
    });
  });

  it.each([
    { view: 'now' },
    { view: 'incident', id: "it's (new)" },
    { view: 'model', model: 'org/model' },
    { view: 'model', model: '..' },
    { view: 'compare' },
    { view: 'pipeline' },
  ] as const)('are the same as those of $view', (route) => {
    expect(isPagePath(formatPlace({ route, params: {}, wrong: {}, hash: '' }))).toBe(true);
  });

  it.each(['/anomalies/a3f0', '/incidents', '/incidents/', '/incidents/a/b', '/now', '/models/'])(
    '%s is a page of neither',
    (path) => {
      expect(isPagePath(path)).toBe(false);
      expect(parse(path).route.view).toBe('unknown');
    },
  );
});
