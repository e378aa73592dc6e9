import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolutions } from '../../src/sink/windows/read-tails.ts';
import { useStack } from '../containers/stack.ts';
import { documentedQueries } from '../docs/documented-queries.ts';
import { Rig } from './kit/rig.ts';

const stack = useStack();
const queries = documentedQueries();
const traffic = { ratePerSecond: 20, seconds: 60 };

/** A value for every parameter of a documented query. */
const nowSeconds = Math.floor(Date.now() / 1_000);
const values: Readonly<Record<string, unknown>> = {
  model: 'ranker',
  stage: 'features',
  version: '',
  region: '',
  requestType: '',
  coldStart: '',
  quantile: 0.99,
  fromSeconds: nowSeconds - 86_400,
  toSeconds: nowSeconds + 86_400,
};

describe('SQL in the documentation, on the real ClickHouse', () => {
  let rig: Rig;

  // Traffic of now, and of each day that a query names.
  beforeAll(async () => {
    if (stack.clickhouseUrl === '') return;
    const settings = Object.fromEntries(
      resolutions.map((resolution) => [
        `CLICKHOUSE_RETENTION_LATENCY_${resolution.toUpperCase()}`,
        '3650d',
      ]),
    );
    rig = await Rig.open({ stack, name: 'docs', settings });
    const days = [...new Set(queries.flatMap((query) => query.days))].toSorted();
    const starts = [...days.map((day) => `${day}T12:00:00Z`), '-2m'];
    let sentCount = 0;
    for (const start of starts) {
      const { exitCode, out } = await rig.cli([
        ...['generate', '--json', '--start', start, '--speed', 'max'],
        ...['--rate', String(traffic.ratePerSecond), '--duration', `${traffic.seconds}s`],
      ]);
      expect(exitCode).toBe(0);
      sentCount += (JSON.parse(out) as { readonly events: number }).events;
    }
    const pipeline = await rig.start();
    await rig.untilConsumed(sentCount);
    await pipeline.stop();
  });
  afterAll(() => rig?.close());

  it('is found', () => {
    expect(queries.map(({ place }) => place.split(':')[0])).toContain('README.md');
  });

  it.each(queries)('$place runs', async ({ sql, reads, parameters }) => {
    for (const name of parameters) expect(Object.keys(values)).toContain(name);
    if (!reads) {
      // Statements that would change the server are only parsed by it.
      expect(await rig.rows(`EXPLAIN AST ${sql}`)).not.toEqual([]);
      return;
    }
    const found = await rig.rows(sql, values);
    if (/\bFROM latency_/.test(sql)) expect(found.length).toBeGreaterThan(0);
  });

  it('would be refused with a column that does not exist', async () => {
    await expect(rig.rows('SELECT p99 FROM latency_1m')).rejects.toThrow('p99');
  });
});
