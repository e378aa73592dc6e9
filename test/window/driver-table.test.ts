import { describe, expect, it } from 'vitest';
import { dimensions } from '../../src/base/dimensions.ts';
import { amountFacets, type Facet, facets } from '../../src/base/facets.ts';
import { DecodedEvent } from '../../src/decode/decoded-event.ts';
import { DriverTable } from '../../src/window/driver-table.ts';
import { SeededRandom } from '../base/seeded-random.ts';

const hostIndex = dimensions.indexOf('host');
const modelIndex = dimensions.indexOf('model');
const versionIndex = dimensions.indexOf('version');
const hostText = (id: number) => `pod-${id}`;

describe('the value of a facet', () => {
  it.each([
    [0, '0'],
    [0.99, '0'],
    [1, '1'],
    [1.5, '1'],
    [2, '2-3'],
    [3.999, '2-3'],
    [4, '4-7'],
    [8, '8-15'],
    [1023, '512-1023'],
    [1024, '1024-2047'],
    [2 ** 31 - 1, '1073741824-2147483647'],
    [2 ** 31, '2147483648-4294967295'],
    [2 ** 32, '4294967296-8589934591'],
    [2 ** 48 - 1, '140737488355328-281474976710655'],
    [2 ** 48, '281474976710656-562949953421311'],
    [2 ** 60, '4503599627370496-9007199254740991'],
  ])('of %d is the bucket %s', (amount, text) => {
    const table = new DriverTable(['batch_size']);
    table.add(eventOf({ batch_size: amount }), 0, 0);
    expect(textsOf(table)).toEqual([`batch_size ${text}`]);
  });

  it('that is absent makes no row', () => {
    const table = new DriverTable(facets);
    table.add(eventOf({}), 0, 0);
    expect(table.size).toBe(0);
  });

  it('has a row for every facet', () => {
    const table = new DriverTable(facets);
    const sizes = { batch_size: 3, request_bytes: 100, input_tokens: 5, concurrency: 1 };
    const further = { response_bytes: 900, output_tokens: 40, queue_depth: 17 };
    table.add(eventOf({ ...sizes, ...further, cacheHit: 1, hostId: 4 }), 0, 0);
    table.add(eventOf({ cacheHit: 0 }), 0, 0);
    expect(textsOf(table)).toEqual([
      'host pod-4',
      'cache_hit hit',
      'batch_size 2-3',
      'request_bytes 64-127',
      'input_tokens 4-7',
      'concurrency 1',
      'response_bytes 512-1023',
      'output_tokens 32-63',
      'queue_depth 16-31',
      'cache_hit miss',
    ]);
  });

  it('of a disabled facet makes no row', () => {
    const table = new DriverTable(['concurrency']);
    table.add(eventOf({ batch_size: 3, hostId: 1, cacheHit: 1 }), 0, 0);
    expect(table.size).toBe(0);
  });
});

describe('DriverTable', () => {
  it('keeps 128 values a facet, minute, model and version, and counts the rest together', () => {
    const table = new DriverTable(['host']);
    for (let round = 0; round < 2; round++) {
      for (let hostId = 1; hostId <= 200; hostId++) table.add(eventOf({ hostId }), 0, 5);
    }
    // Each minute, model or version has its own values.
    table.add(eventOf({ hostId: 200 }), 1, 5);
    table.add(eventOf({ hostId: 200, modelId: 9 }), 0, 5);
    table.add(eventOf({ hostId: 200, versionId: 9 }), 0, 5);
    const rows = rowsOf(table);
    expect(rows).toHaveLength(129 + 3);
    for (let row = 0; row < 128; row++) {
      expect(rows[row]).toEqual({
        ...first,
        value: `pod-${row + 1}`,
        bands: [[5, 2]],
      });
    }
    expect(rows[128]).toEqual({ ...first, value: '', bands: [[5, 144]] });
    expect(rows.slice(129)).toEqual([
      { ...first, minute: 1, value: 'pod-200', bands: [[5, 1]] },
      { ...first, modelId: 9, value: 'pod-200', bands: [[5, 1]] },
      { ...first, versionId: 9, value: 'pod-200', bands: [[5, 1]] },
    ]);
  });

  it.each([1, 2])('counts requests by band exactly: seed %i', (seed) => {
    const random = new SeededRandom(seed);
    const table = new DriverTable(['host', 'cache_hit']);
    const expected = new Map<string, number>();
    const count = (name: string) => expected.set(name, (expected.get(name) ?? 0) + 1);
    for (let i = 0; i < 4_000; i++) {
      const minute = 29_000_000 + random.between(0, 60);
      const [modelId, hostId] = [random.between(1, 3), random.between(0, 4)];
      const [band, cacheHit] = [random.between(-80, 127), random.between(-1, 1)];
      table.add(eventOf({ modelId, hostId, cacheHit }), minute, band);
      if (hostId > 0) count(`${minute} ${modelId} host pod-${hostId} ${band}`);
      if (cacheHit >= 0)
        count(`${minute} ${modelId} cache_hit ${cacheHit ? 'hit' : 'miss'} ${band}`);
    }
    const found = new Map<string, number>();
    for (const row of rowsOf(table)) {
      const name = `${row.minute} ${row.modelId} ${row.facet} ${row.value}`;
      for (const [band, requests] of row.bands) found.set(`${name} ${band}`, requests);
    }
    expect(found).toEqual(expected);
    const { bytes } = table;
    table.reset();
    expect(table.size).toBe(0);
    table.add(eventOf({ hostId: 1 }), 0, 3);
    expect(rowsOf(table)).toEqual([{ ...first, value: 'pod-1', bands: [[3, 1]] }]);
    expect(table.bytes).toBe(bytes);
  });
});

const first = { minute: 0, modelId: 1, versionId: 2, facet: 'host' as Facet };

interface Given extends Partial<Record<(typeof amountFacets)[number], number>> {
  readonly cacheHit?: number;
  readonly hostId?: number;
  readonly modelId?: number;
  readonly versionId?: number;
}

function eventOf(given: Given): DecodedEvent {
  const { hostId = 0, modelId = 1, versionId = 2, cacheHit = -1 } = given;
  const event = Object.assign(new DecodedEvent(), { cacheHit });
  event.amounts.set(amountFacets.map((facet) => given[facet] ?? Number.NaN));
  event.dimensionIds[hostIndex] = hostId;
  event.dimensionIds[modelIndex] = modelId;
  event.dimensionIds[versionIndex] = versionId;
  return event;
}

function textsOf(table: DriverTable): string[] {
  return rowsOf(table).map((row) => `${row.facet} ${row.value}`);
}

function rowsOf(table: DriverTable) {
  const bands = new Int16Array(208);
  const amounts = new Float64Array(208);
  return Array.from({ length: table.size }, (_, row) => {
    const n = table.readBands(row, bands, amounts);
    return {
      minute: table.minute(row),
      modelId: table.modelId(row),
      versionId: table.versionId(row),
      facet: table.facet(row),
      value: table.value(row, hostText),
      bands: Array.from({ length: n }, (_, i) => [bands[i], amounts[i]] as [number, number]),
    };
  });
}
