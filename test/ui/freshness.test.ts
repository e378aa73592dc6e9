import { expect, it } from 'vitest';
import {
  type Freshness,
  freshness,
  readFreshness,
  staleness,
} from '../../ui/src/data/freshness.ts';

const serverMs = Date.parse('2026-11-01T10:05:00Z');
const at = (seconds: number) => serverMs - seconds * 1_000;
const textOf = (changed: Partial<Freshness>) =>
  staleness({ storedToMs: at(20), evaluatedToMs: at(25), serverMs, ...changed }, (ms) =>
    new Date(ms).toISOString().slice(11, 19),
  );

it.each([
  [{}, undefined],
  [{ storedToMs: at(119) }, undefined],
  [
    { storedToMs: null, evaluatedToMs: null },
    'Nothing to show yet: no window of events is complete.',
  ],
  [
    { storedToMs: at(240), evaluatedToMs: at(240) },
    'Numbers end at 10:01:00: no newer requests are stored. Traffic has stopped, or storing is behind: see Pipeline.',
  ],
  [{ evaluatedToMs: null }, 'No detector has evaluated anything: no incident can open.'],
  [{ evaluatedToMs: at(300) }, 'Nothing is evaluated since 10:00:00: no incident opens or ends.'],
] as const)('%j is said to be behind, or current', (changed, text) => {
  expect(textOf(changed)).toBe(text);
});

it('is read from the headers of each response, by the clock of the server', () => {
  readFreshness(
    new Headers({
      'tailmark-stored-to': '2026-11-01T10:04:40.000Z',
      'tailmark-evaluated-to': 'never',
      date: 'Sun, 01 Nov 2026 10:05:00 GMT',
    }),
  );
  expect(freshness.value).toEqual({ storedToMs: at(20), evaluatedToMs: null, serverMs });
  readFreshness(new Headers());
  expect(freshness.value?.serverMs).toBe(serverMs);
});
