import { expect, it } from 'vitest';
import { seriesFinding } from '../../src/sink/probe-clickhouse.ts';

it('seriesFinding is ok while every series has a slot, and a warning with the fix beyond that', () => {
  expect(seriesFinding(2_000, 2_000)).toEqual({
    ...{ ok: true, what: 'series' },
    detail: '2000 with requests in the last 10 min, limit 2000',
  });
  expect(seriesFinding(2_001, 2_000)).toMatchObject({
    ...{ ok: true, isWarning: true, what: 'series' },
    detail:
      '2001 with requests in the last 10 min; only the 2000 with the most requests are evaluated',
    hint: expect.stringContaining('detect.max_series'),
  });
});
