import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { minuteMs } from '../../src/base/time.ts';
import { useStack } from '../containers/stack.ts';
import { grafanaQuery } from './kit/grafana-query.ts';
import { Rig } from './kit/rig.ts';

interface Query {
  readonly refId: string;
  readonly datasourceUid: string;
  readonly model: {
    readonly refId: string;
    readonly type?: 'reduce' | 'threshold';
    readonly expression?: string;
    readonly reducer?: string;
    readonly rawSql?: string;
    readonly conditions?: readonly { evaluator: { type: string; params: readonly number[] } }[];
  };
}
interface Rule {
  readonly uid: string;
  readonly title: string;
  readonly condition: string;
  readonly noDataState: 'Alerting' | 'OK';
  readonly annotations: Readonly<Record<string, string>>;
  readonly data: readonly Query[];
}

const stack = useStack();
const path = new URL('../../deploy/grafana-alert-rules.yaml', import.meta.url);
const { apiVersion, groups } = parse(readFileSync(path, 'utf8')) as {
  apiVersion: number;
  groups: { name: string; folder: string; interval: string; rules: Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);

let rig: Rig;
beforeAll(async () => {
  if (stack.clickhouseUrl === '') return;
  rig = await Rig.open({ stack, name: 'grafana-alerts' });
});
afterAll(() => rig?.close());

/** Rules that fire, each with the labels of what it fires for. */
async function firing(): Promise<string[]> {
  return (await Promise.all(rules.map(firingOf))).flat();
}

/** The query, its last value and the threshold, as Grafana evaluates them: a row a set of labels. */
async function firingOf({ uid, condition, data, noDataState }: Rule): Promise<string[]> {
  const model = (refId: string | undefined) => data.find((one) => one.refId === refId)?.model;
  const threshold = model(condition);
  const reduced = model(threshold?.expression);
  const query = model(reduced?.expression);
  const { type, params } = threshold?.conditions?.[0]?.evaluator ?? {};
  expect([threshold?.type, reduced?.type, reduced?.reducer, type]).toEqual([
    ...['threshold', 'reduce', 'last', 'gt'],
  ]);
  const range = { fromMs: Date.now() - minuteMs, toMs: Date.now() };
  const sql = grafanaQuery(query?.rawSql ?? '', { ...range, intervalSeconds: 60, variables: {} });
  const result = await rig.client.query({
    ...{ query: sql, format: 'JSONEachRow' },
    clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
  });
  const rows = await result.json<Record<string, string | number>>();
  if (rows.length === 0) return noDataState === 'OK' ? [] : [uid];
  const labelled = rows.map((row) => {
    const values = Object.values(row);
    const numbers = values.filter((value) => typeof value === 'number');
    // A table with one column of numbers; all others are labels.
    expect([uid, numbers.length]).toEqual([uid, 1]);
    const labels = values.filter((value) => typeof value === 'string');
    return { name: [uid, ...labels].join(' '), isFiring: (numbers[0] ?? 0) > (params?.[0] ?? 0) };
  });
  expect(new Set(labelled.map(({ name }) => name)).size).toBe(rows.length);
  return labelled.filter(({ isFiring }) => isFiring).map(({ name }) => name);
}

/** A time of the server's, so long ago. */
const ago = (ms: number) => `fromUnixTimestamp64Milli(${Date.now() - ms})`;
const command = (query: string) => rig.client.command({ query });

async function storeEvent(agoMs: number) {
  const event = { ts: Date.now() - agoMs, model: 'ranker', total_ms: 30 };
  await rig.publish([{ value: JSON.stringify(event) }]);
}

const evaluatedUntil = (ms: number) =>
  command(`INSERT INTO detector_progress (detector, judged_until) VALUES ('d', ${ago(ms)})`);
const attempted = (receiver: string, outcome: string, agoMs: number) =>
  command(
    `INSERT INTO deliveries (receiver, id, revision, attempt, outcome, at)
     VALUES ('${receiver}', 'a', 1, 1, '${outcome}', ${ago(agoMs)})`,
  );
/** A row of the ledger for offsets that begin so far after its end. */
const recorded = (gap: number, offsets: number, consumed = offsets) =>
  command(
    `INSERT INTO flushes SELECT * REPLACE (${gap} + ends AS start_offset, ${gap + offsets} + ends AS end_offset,
       ${consumed} AS consumed, ${offsets} AS aggregated, 0 AS rejected, 0 AS late, 0 AS overflow)
     EXCEPT (ends) FROM (SELECT *, max(end_offset) OVER () AS ends FROM flushes ORDER BY end_offset DESC LIMIT 1)`,
  );

describe('deploy/grafana-alert-rules.yaml', () => {
  it('has the form of Grafana’s provisioning, version 1', () => {
    expect(apiVersion).toBe(1);
    expect(new Set(rules.map(({ uid }) => uid)).size).toBe(rules.length);
    for (const { data, annotations } of rules) {
      expect(data.map(({ refId, model }) => [refId, model.refId])).toEqual([
        ...[
          ['A', 'A'],
          ['B', 'B'],
          ['C', 'C'],
        ],
      ]);
      expect(data.map(({ datasourceUid }) => datasourceUid)).toEqual([
        ...['tailmark-clickhouse', '__expr__', '__expr__'],
      ]);
      // Grafana replaces $NAME in provisioned files by the environment's.
      expect(Object.values(annotations).join()).not.toContain('$');
    }
  });
});

describe('the rules', () => {
  it('fire in the state that each is for, and in no other', async () => {
    expect(await firing()).toEqual(['tailmark-nothing-stored']);

    const pipeline = await rig.start(['ingest']);
    await storeEvent(11 * minuteMs);
    await rig.untilConsumed(1);
    expect(await firing()).toEqual(['tailmark-nothing-stored', 'tailmark-not-evaluated']);

    await evaluatedUntil(11 * minuteMs);
    expect(await firing()).toEqual(['tailmark-nothing-stored']);

    await storeEvent(0);
    await rig.untilConsumed(2);
    await pipeline.stop();
    expect(await firing()).toEqual(['tailmark-not-evaluated']);

    await evaluatedUntil(9 * minuteMs);
    expect(await firing()).toEqual([]);
  });

  it('of the ledger fires for a gap, an overlap and events that are lost, of one partition', async () => {
    const fires = [`tailmark-ledger ${rig.config.kafka.group_id} ${rig.topic} 0`];
    await recorded(0, 5);
    expect(await firing()).toEqual([]);
    await recorded(3, 1);
    expect(await firing()).toEqual(fires);
    // The missing offsets come after all.
    await recorded(-4, 3);
    expect(await firing()).toEqual([]);
    await recorded(-1, 2);
    expect(await firing()).toEqual(fires);
    await command('TRUNCATE TABLE flushes');
    await command(
      `INSERT INTO flushes (group_id, topic, start_offset, end_offset, consumed, aggregated)
       VALUES ('g', 't', 0, 5, 5, 4)`,
    );
    expect(await firing()).toEqual(['tailmark-ledger g t 0']);
    await command('TRUNCATE TABLE flushes');
    expect(await firing()).toEqual([]);
  });

  it('of deliveries fire for the receiver that has accepted nothing since, and for what is given up', async () => {
    await attempted('chat', 'accepted', 10 * minuteMs);
    await attempted('pager', 'failed', 4 * minuteMs);
    expect(await firing()).toEqual([]);
    await attempted('pager', 'rejected', 6 * minuteMs);
    expect(await firing()).toEqual(['tailmark-delivery-fails pager']);
    await attempted('pager', 'accepted', 3 * minuteMs);
    expect(await firing()).toEqual([]);
    await attempted('chat', 'expired', 61 * minuteMs);
    expect(await firing()).toEqual([]);
    await attempted('chat', 'refused', 59 * minuteMs);
    expect(await firing()).toEqual(['tailmark-delivery-given-up chat']);
  });
});
