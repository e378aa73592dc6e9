import { expect, it } from 'vitest';
import { unsupportedTables } from '../../../src/sink/guard/table-engines.ts';

it.each([
  ['MergeTree', true],
  ['AggregatingMergeTree', true],
  ['ReplacingMergeTree', true],
  ['ReplicatedMergeTree', false],
  ['ReplicatedAggregatingMergeTree', false],
  ['ReplicatedReplacingMergeTree', false],
  ['SharedMergeTree', false],
  ['SharedAggregatingMergeTree', false],
  ['SharedReplacingMergeTree', false],
  ['Distributed', false],
  ['Buffer', false],
  ['Null', false],
  ['SummingMergeTree', false],
])('a table of engine %s is supported: %s', (engine, isSupported) => {
  const tables = [
    { table_name: 'chunk_landings', engine: 'MergeTree' },
    { table_name: 'flushes', engine },
  ];
  expect(unsupportedTables(tables)).toEqual(isSupported ? [] : [`flushes (${engine})`]);
});
