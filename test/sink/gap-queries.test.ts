import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { gapStage, objectivePrefix } from '../../src/base/dimensions.ts';

const folder = new URL('../../sql/queries/', import.meta.url);
const queries = readdirSync(folder)
  .filter((file) => file.endsWith('.sql'))
  .map((file) => [file, readFileSync(new URL(file, folder), 'utf8')] as const);

/** Queries that take stages for requests; test/e2e/token-gaps.test.ts reads by most of them. */
const ofRequests = [
  'comparison_blocks.sql',
  'comparison_values.sql',
  'hourly_tails.sql',
  'series_windows.sql',
  'traffic_blocks.sql',
  'view_compare.sql',
  'view_models.sql',
  'view_tails.sql',
  'window_requests.sql',
  'window_sizes.sql',
];

it('queries that take stages for requests name the stage of gaps, by its name', () => {
  const naming = queries.filter(([, text]) => text.includes(`'${gapStage}'`)).map(([file]) => file);
  expect(naming).toEqual(ofRequests);
});

it('leave out the rows of objectives beside it, but for the windows of the detector, which judges by them', () => {
  const timesOf = (text: string, part: string) => text.split(part).length - 1;
  const filters = queries
    .filter(
      ([file]) =>
        ofRequests.includes(file) && !/^(series_windows|window_sizes|view_tails)/.test(file),
    )
    .map(([file, text]) => {
      return [file, timesOf(text, `'${gapStage}'`), timesOf(text, `'${objectivePrefix}'`)];
    });
  expect(filters.map(([file, , objectives]) => [file, objectives])).toEqual(
    filters.map(([file, gaps]) => [file, gaps]),
  );
  expect(filters).toContainEqual(['hourly_tails.sql', 2, 2]);
});
