import { expect, it } from 'vitest';
import type { DeadLetter } from '../../../src/ingest/letters/dead-letter.ts';
import { RejectWarnings } from '../../../src/ingest/letters/reject-warnings.ts';

const letters = (
  count: number,
  reason: DeadLetter['reason'],
  detail: string = reason,
): DeadLetter[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ topic: 't', partition: 0, logId: '', offset: 0, index, reason, detail },
    ...{ bytes: null, originalBytes: 0 },
  }));

it('says once in ten minutes, by topic, that most events are rejected, and why', () => {
  const said: unknown[] = [];
  const warnings = new RejectWarnings({ warn: (fields: unknown) => said.push(fields) });
  const mixed = [...letters(5, 'no_end'), ...letters(16, 'invalid_json', 'it is text')];
  warnings.count({ topic: 't', consumed: 42 }, mixed, 0);
  warnings.count({ topic: 'v', consumed: 19 }, letters(19, 'invalid_json'), 0);
  expect(said).toEqual([]);
  warnings.count({ topic: 't', consumed: 41 }, mixed, 60_000);
  warnings.count({ topic: 't', consumed: 41 }, mixed, 659_999);
  warnings.count({ topic: 'u', consumed: 20 }, letters(20, 'bad_ts'), 1);
  warnings.count({ topic: 't', consumed: 41 }, mixed, 720_000);
  const first = { topic: 't', rejected: 21, of: 41, reason: 'invalid_json', detail: 'it is text' };
  expect(said).toEqual([
    first,
    { topic: 'u', rejected: 20, of: 20, reason: 'bad_ts', detail: 'bad_ts' },
    first,
  ]);
});

it('adds up what comes slowly, a minute long', () => {
  const said: unknown[] = [];
  const warnings = new RejectWarnings({ warn: (fields: unknown) => said.push(fields) });
  const each = (n: number, ms: number) =>
    warnings.count({ topic: 't', consumed: n }, letters(n, 'invalid_json', `at ${ms}`), ms);
  each(19, 0);
  each(19, 60_000);
  expect(said).toEqual([]);
  each(1, 119_999);
  const detail = 'at 60000';
  expect(said).toEqual([{ topic: 't', rejected: 20, of: 20, reason: 'invalid_json', detail }]);
});
