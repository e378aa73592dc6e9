import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { RowBinaryWriter } from '../../src/sink/row-binary/row-binary-writer.ts';
import { decodeState, encodeState, maxStateBytes } from '../../src/sketch/clickhouse-state.ts';
import { storedQuantiles } from '../../src/sketch/stored-quantiles.ts';
import type { TDigest } from '../../src/sketch/t-digest.ts';
import { useStack } from '../containers/stack.ts';
import { drawDistribution } from '../sketch/distributions.ts';
import { poolDigest } from '../sketch/pool-digest.ts';
import type { Rig } from './kit/rig.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();

function stateOf(digest: TDigest): Uint8Array {
  const bytes = new Uint8Array(maxStateBytes);
  return bytes.slice(0, encodeState(digest.means, digest.weights, digest.size, bytes, 0));
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex').toUpperCase();

/** A table of digests, inserted in RowBinary: a state has the same bytes there as in Native. */
async function insertStates(rig: Rig, digests: readonly TDigest[]): Promise<void> {
  await rig.client.command({
    query: `CREATE OR REPLACE TABLE states (latency
            AggregateFunction(quantilesTDigest(0.5, 0.9, 0.95, 0.99, 0.999), Float32))
            ENGINE = MergeTree ORDER BY tuple()`,
  });
  const writer = new RowBinaryWriter();
  for (const { means, weights, size } of digests) {
    writer.raw(maxStateBytes, (out, at) => encodeState(means, weights, size, out, at));
  }
  const { stream } = await rig.client.exec({
    query: 'INSERT INTO states FORMAT RowBinary',
    values: Readable.from([writer.copy()], { objectMode: false }),
    clickhouse_settings: { wait_end_of_query: 1 },
  });
  for await (const _ of stream) {
    // Read to its end, to finish the response.
  }
}

/** Decodes a digest state that ClickHouse returns. */
async function stateFrom(rig: Rig, query: string): Promise<TDigest> {
  const [row] = await rig.rows<{ state: string }>(query);
  return decodeState(Buffer.from(row?.state ?? '', 'hex')).digest;
}

const values = [0.001, 1.5, 1.5, 2, 3.25, 100, 3_600_000];
const asFloats = `arrayJoin([${values.join(', ')}])`;

describe('a digest state', () => {
  it('equals that of ClickHouse for the same few values, byte for byte', () =>
    withRig({ stack, name: 'golden' }, async (rig) => {
      const [row] = await rig.rows<{ state: string }>(
        `SELECT hex(quantilesTDigestState(0.5, 0.99)(toFloat32(${asFloats}))) AS state`,
      );
      const weights = Float64Array.from(values, () => 1);
      const bytes = new Uint8Array(maxStateBytes);
      const end = encodeState(Float64Array.from(values), weights, values.length, bytes, 0);
      expect(hex(bytes.slice(0, end))).toBe(row?.state);
    }));

  it('of many values is read from ClickHouse, and means the same here and there', () =>
    withRig({ stack, name: 'decoded' }, async (rig) => {
      const source = '(SELECT toFloat32(exp(3 + sin(number))) AS ms FROM numbers(100000))';
      const digest = await stateFrom(
        rig,
        `SELECT hex(quantilesTDigestState(0.5)(ms)) AS state FROM ${source}`,
      );
      expect(digest.count).toBe(100_000);
      const qs = [0, 0.01, 0.5, 0.9, 0.99, 0.999, 1];
      const [row] = await rig.rows<{ q: number[] }>(
        `SELECT quantilesTDigest(${qs.join(', ')})(ms) AS q FROM ${source}`,
      );
      qs.forEach((q, i) => {
        expect(digest.quantile(q) / (row?.q[i] ?? Number.NaN)).toBeCloseTo(1, 5);
      });
    }));

  it('that tailmark wrote comes back from ClickHouse unchanged', () =>
    withRig({ stack, name: 'back' }, async (rig) => {
      const digest = poolDigest(drawDistribution('lognormal', 5_000, 7));
      await insertStates(rig, [digest]);
      const [row] = await rig.rows<{ state: string }>('SELECT hex(latency) AS state FROM states');
      expect(row?.state).toBe(hex(stateOf(digest)));
    }));

  it.each(['lognormal', 'bimodal cliff'])(
    'of 1,000 windows (%s), merged by ClickHouse, is within a hundredth from p50 to p99.9, within 0.6 % where stored, counts exact',
    (name) =>
      withRig({ stack, name: 'merged' }, async (rig) => {
        const windows = 1_000;
        const perWindow = 200;
        const drawn = drawDistribution(name, windows * perWindow, 11);
        const digests = Array.from({ length: windows }, (_, n) =>
          poolDigest(drawn.subarray(n * perWindow, (n + 1) * perWindow)),
        );
        await insertStates(rig, digests);
        const qs = [0.5, 0.6, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999];
        const [row] = await rig.rows<{ q: number[] }>(
          `SELECT quantilesTDigestMerge(${qs.join(', ')})(latency) AS q FROM
           (SELECT CAST(latency, 'AggregateFunction(quantilesTDigest(${qs.join(', ')}), Float32)') AS latency FROM states)`,
        );
        const sorted = drawn.slice().sort();
        qs.forEach((q, i) => {
          // Every q here has at least 20 values above it.
          const exact = sorted[Math.ceil(q * sorted.length - 1e-6) - 1] as number;
          const error = Math.abs((row?.q[i] ?? Number.NaN) / exact - 1);
          const most = storedQuantiles.some((each) => each === q) ? 0.006 : 0.01;
          expect(error, `p${q * 100} of ${exact} ms is off by ${error}`).toBeLessThan(most);
        });
        const merged = await stateFrom(
          rig,
          `SELECT hex(quantilesTDigestMergeState(0.5, 0.9, 0.95, 0.99, 0.999)(latency)) AS state FROM states`,
        );
        expect(merged.count).toBe(windows * perWindow);
      }),
  );
});
