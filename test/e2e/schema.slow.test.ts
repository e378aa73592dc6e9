import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { HourlyTails, type HourTail } from '../../src/baseline/hourly-tails.ts';
import { countsSql, driftSql, evidenceSql } from '../../src/contract/sql.ts';
import type { SeriesHour } from '../../src/detect/drift/drift-detectors.ts';
import { unversionedKey } from '../../src/series/series-key.ts';
import type { Series } from '../../src/series/series-window.ts';
import { AnomalyStore } from '../../src/sink/anomalies/anomaly-store.ts';
import { explainAnomaly } from '../../src/sink/anomalies/explanation.ts';
import { readMigrations } from '../../src/sink/migrate/migrate.ts';
import { readHours } from '../../src/sink/windows/read-hours.ts';
import { resolutions } from '../../src/sink/windows/read-tails.ts';
import { useStack } from '../containers/stack.ts';
import { uniqueName } from '../containers/unique-name.ts';
import { anomalyFixture } from '../contract/anomaly-fixture.ts';
import { readWindows } from '../sink/windows/read-windows.ts';
import type { Rig } from './kit/rig.ts';
import { truthOf } from './kit/truth.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const all = readMigrations().map(({ name }) => name);

/** How each table and view of a database is made, without the database's name. */
async function definitionsIn(rig: Rig, database: string): Promise<string[]> {
  const rows = await rig.rows<{ definition: string }>(
    `SELECT replaceAll(create_table_query, {database:String}, 'name') AS definition
     FROM system.tables WHERE database = {database:String} ORDER BY name`,
    { database },
  );
  return rows.map(({ definition }) => definition);
}

describe('tailmark migrate', () => {
  it('creates everything, changes nothing the second time, and sets a retention that changed', () =>
    withRig({ stack, name: 'migrate' }, async (rig) => {
      const database = uniqueName('migrated');
      const migrate = async (settings: Record<string, string> = {}) => {
        const env = { ...rig.env, TAILMARK_CLICKHOUSE_DATABASE: database, ...settings };
        const { exitCode, out, err } = await rig.cli(['migrate', '--json'], { env });
        expect([exitCode, err]).toEqual([0, '']);
        return JSON.parse(out) as Record<string, unknown>;
      };
      rig.atEnd(() => rig.client.command({ query: `DROP DATABASE ${database}` }));

      const first = await migrate();
      expect(first).toMatchObject({ database, applied: all, present: [] });
      expect(first.retentionChanged).toContain('latency_10s');
      // The rig's is a copy (kit/migrated-database.ts): the same in all but the name.
      const copied = await definitionsIn(rig, rig.config.clickhouse.database);
      expect(copied.length).toBeGreaterThan(30);
      expect(copied).toEqual(await definitionsIn(rig, database));
      const nothing = { database, applied: [], present: all, recreated: [], retentionChanged: [] };
      expect(await migrate()).toEqual(nothing);

      const shorter = { TAILMARK_CLICKHOUSE_RETENTION_LATENCY_10S: '2d' };
      expect(await migrate(shorter)).toEqual({ ...nothing, retentionChanged: ['latency_10s'] });
      const [table] = await rig.rows<{ ddl: string }>(
        `SELECT create_table_query AS ddl FROM system.tables
         WHERE database = {database:String} AND name = 'latency_10s'`,
        { database },
      );
      expect(table?.ddl).toMatch(/TTL [^)]*window_start\) \+ toIntervalSecond\([^)]*\b172800\b/);
      expect(await migrate(shorter)).toEqual(nothing);
    }));

  it('refuses a migration whose file is not the one that was applied', () =>
    withRig({ stack, name: 'changed' }, async (rig) => {
      await rig.client.command({
        query: `ALTER TABLE schema_migrations UPDATE checksum = 'of another file'
                WHERE name = {name:String} SETTINGS mutations_sync = 2`,
        query_params: { name: all[1] },
      });
      const { exitCode, out, err } = await rig.cli(['migrate']);
      expect([exitCode, out]).toEqual([78, '']);
      expect(err).toContain(`sql/${all[1]}.sql differs from what was applied`);
      expect(err).toContain('TAILMARK_SCHEMA_CHANGED');
    }));
});

/** Some traffic of two models over a few windows; two in ten fail. */
const eventsOf = (startMs: number) =>
  Array.from({ length: 600 }, (_, n) => ({
    ts: startMs + n * 100,
    model: n % 3 === 0 ? 'embedder' : 'ranker',
    version: '7',
    region: 'eu-west-1',
    host: `h${n % 4}`,
    trace_id: `trace-${n}`,
    status: n % 10 === 0 ? 'error' : n % 10 === 1 ? 'timeout' : 'ok',
    stages_ms: { queue: 1 + (n % 7), forward: 20 + (n % 50) },
  }));

/** Ingests the traffic, and adds an anomaly. */
async function fill(rig: Rig) {
  const events = eventsOf(Date.now() - 90_000);
  await rig.publish(events.map((event) => ({ value: JSON.stringify(event) })));
  const pipeline = await rig.start(['ingest']);
  await rig.untilConsumed(events.length);
  await pipeline.stop();
  await rig.expectStages(truthOf(events));
  const started_at = new Date().toISOString();
  await new AnomalyStore(rig.client).add(anomalyFixture({ started_at, detected_at: started_at }));
  return events;
}

describe('queries', () => {
  const folder = new URL('../../sql/queries/', import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));

  it('in sql/queries all run with their parameters, and return rows', () =>
    withRig({ stack, name: 'queries' }, async (rig) => {
      await fill(rig);
      const [log] = await rig.rows<{ cluster: string }>(
        `SELECT DISTINCT substringIndex(log_id, '/', 1) AS cluster FROM flushes`,
      );
      const values: Record<string, unknown> = {
        groupId: rig.config.kafka.group_id,
        topic: rig.topic,
        model: 'ranker',
        modelContains: 'RANK',
        objectiveModels: ['rank%'],
        objectiveThresholds: [50],
        objectiveShares: [0.9],
        stage: 'total',
        service: '',
        host: '',
        tenant: '',
        id: '',
        revision: 1,
        ids: ['a', 'b'],
        beforeMs: Date.now() + 60_000,
        untilMs: Date.now(),
        detector: rig.config.kafka.group_id,
        slot: 0,
        snapshot: '',
        part: 'shared',
        state: 'open',
        version: '7',
        region: 'eu-west-1',
        requestType: '',
        ...{ attributePairs: [], attributes: '', attribute: '', byAttribute: '' },
        ...{ attributeNames: ['adapter'], attributePatterns: ['%'] },
        limit: 5,
        table: 'latency_1m',
        windowSeconds: 10,
        fromMs: Date.now() - 3_600_000,
        partition: 0,
        logId: 'c/t',
        logMark: 1,
        clusterId: log?.cluster,
        startOffset: 0,
        endOffset: 1,
        sinceMs: 0,
        landedSinceMs: 0,
        ledgerSinceMs: 0,
        firstsToo: true,
        graceMs: 2_000,
        allowedLatenessMs: 86_400_000,
        idleMs: 35_000,
        mark: 1,
        kind: 'ingest',
        fromS: 0,
        toS: 86_400,
        // The hour of the traffic began an hour ago, or a little earlier.
        fromSeconds: Math.floor(Date.now() / 1000) - 7_200,
        toSeconds: Math.ceil(Date.now() / 1000) + 1,
        starts: Array.from({ length: 720 }, (_, i) => {
          return (Math.floor(Date.now() / 10_000) - i) * 10;
        }),
        stepSeconds: 60,
        beforeSeconds: Math.floor(Date.now() / 1000) - 7_200,
        completeSeconds: Math.ceil(Date.now() / 1000) + 1,
        stages: ['total'],
        ...{ whole: 'total', only: [] },
        ...{ milestones: '^first_token$', noMilestones: '^$', measures: ['time_per_output_token'] },
        facets: ['host'],
        blockSeconds: 600,
        whole: false,
        anyVersion: false,
        anyStart: false,
        baselineFromSeconds: 0,
        baselineToSeconds: 1,
        versions: ['7'],
        baselineVersions: ['7'],
        baselineRegions: ['eu-west-1'],
        baselineHosts: [''],
        rankedFromSeconds: 0,
        rankedToSeconds: Math.ceil(Date.now() / 1000) + 1,
        seriesLimit: 10,
        coarseTable: 'latency_1h',
        firstTable: 'latency_1h',
        coarseFromSeconds: 0,
        coarseToSeconds: 0,
        receiver: 'pager',
        receivers: ['pager'],
        start: '',
        afterMs: 0,
        sinceSeconds: 0,
        dimension: 'version',
        by: 'version',
        quantiles: 0.99,
        digests: true,
        readsOnce: false,
        slotSeconds: 3_600,
        firstSlot: 0,
        slots: 24,
        cuts: [0.5, 0.99],
        levels: [0.5, 0.99],
        baselineSpanSeconds: 86_400,
        toMs: Date.now() + 60_000,
        beforeId: '',
        models: ['ranker'],
        series: [''],
        baselineSeries: [''],
        row: 'objective: total<=500',
        ...{
          servicePattern: '%',
          versionPattern: '%',
          requestTypePattern: '%',
          regionPattern: '%',
        },
        ...{ hostPattern: '%', tenantPattern: '%', coldStartPattern: '%' },
        ...{ aVersion: '7', aFromSeconds: Math.floor(Date.now() / 60_000) * 60 - 600 },
        ...{ bVersion: '', bFromSeconds: Math.floor(Date.now() / 60_000) * 60 - 600 },
        ...{ aToSeconds: Math.ceil(Date.now() / 1000), bToSeconds: Math.ceil(Date.now() / 1000) },
      };
      for (const file of files) {
        const query = readFileSync(new URL(file, folder), 'utf8');
        const used = [...query.matchAll(/\{(\w+):([\w()]+)\}/g)];
        const params = Object.fromEntries(
          used.map(([, name = '', type]) => {
            if (name === 'coldStart') return [name, type === 'Bool' ? false : 'false'];
            expect(values, `${file} has a parameter that this test does not know`).toHaveProperty(
              name,
            );
            return [name, values[name]];
          }),
        );
        const { stream } = await rig.client.exec({ query, query_params: params });
        let answerBytes = 0;
        for await (const part of stream) answerBytes += (part as Buffer).length;
        // Queries for problems return nothing here, and no receiver is configured.
        const isSilent =
          /_problems\.sql$|^(stored|detector|new)_|^(abandoned_chunks|counted_twice|live_leases|short_token_windows|accepted_ids|deliveries|mutes|removed_records|outbox_settled|outbox_receivers|receiver_outages|given_up_deliveries|view_distribution|view_receivers|view_models_detector_baseline)\.sql$/.test(
            file,
          );
        expect([file, answerBytes > 0]).toEqual([file, !isSilent]);
      }
    }));

  it('of events return the contents of the event', () =>
    withRig({ stack, name: 'event-queries' }, async (rig) => {
      const startMs = Date.now() - 90_000;
      const events = eventsOf(startMs).map((event, n) => ({ ...event, cold_start: n % 5 === 2 }));
      await rig.publish(events.map((event) => ({ value: JSON.stringify(event) })));
      const pipeline = await rig.start(['ingest']);
      await rig.untilConsumed(events.length);
      await pipeline.stop();
      const ranker = events.filter(({ model }) => model === 'ranker');
      const series = {
        ...{ service: '', model: 'ranker', version: '7', request_type: '', region: 'eu-west-1' },
        ...{ host: '', tenant: '', cold_start: false },
      };
      const at = { series, startedAtMs: startMs, coversAllSeries: false };
      const sumsOf = async (sql: string) => {
        const rows = await rig.rows<Record<string, string>>(sql);
        const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name]), 0);
        return [sum('requests'), sum('cold_starts'), sum('errors')];
      };
      const coldOnes = ranker.filter((event) => event.cold_start);
      const failed = ranker.filter(
        ({ status, ...event }) => status === 'error' && !event.cold_start,
      );
      expect(await sumsOf(countsSql({ ...at, kind: 'cold_starts' }))).toEqual([
        ...[ranker.length, coldOnes.length, Number.NaN],
      ]);
      expect(await sumsOf(countsSql({ ...at, kind: 'error_rate' }))).toEqual([
        ...[ranker.length - coldOnes.length, Number.NaN, failed.length],
      ]);
      const tails = await rig.rows<{ stage: string; requests: string }>(
        evidenceSql({ series, q: 0.99, startedAtMs: startMs, windowMs: 10_000 }),
      );
      const ofTotal = tails.filter(({ stage }) => stage === 'total');
      expect(ofTotal.reduce((sum, { requests }) => sum + Number(requests), 0)).toBe(
        ranker.length - coldOnes.length,
      );
      const ofDrift = { series: { ...series, version: '' }, stage: 'total', startedAtMs: startMs };
      expect((await sumsOf(driftSql(ofDrift)))[0]).toBe(ranker.length - coldOnes.length);
    }));

  it('of hours return the same as a detector reads', () =>
    withRig({ stack, name: 'hours' }, async (rig) => {
      const startMs = Date.now() - 90_000;
      // Two versions of each series: an hour covers both.
      const events = eventsOf(startMs).map((event, n) => ({ ...event, version: `${n % 2}` }));
      await rig.publish(events.map((event) => ({ value: JSON.stringify(event) })));
      const pipeline = await rig.start(['ingest']);
      await rig.untilConsumed(events.length);
      await pipeline.stop();
      const windowMs = 10_000;
      const fromMs = Math.floor(startMs / windowMs) * windowMs;
      const toMs = Date.now() + windowMs;
      const quantiles = [0.95, 0.99];
      const seen = new Map<string, { series: Series; tails: HourlyTails }>();
      const hours: SeriesHour[] = [];
      const windows = await readWindows(rig.client, { fromMs, toMs, windowMs });
      for (const window of windows) {
        const key = unversionedKey(window.series);
        const one = seen.get(key) ?? { series: window.series, tails: new HourlyTails(quantiles) };
        seen.set(key, one);
        one.tails.reach(window.windowStartMs);
        one.tails.observe(window);
      }
      for (const { series, tails } of seen.values()) {
        tails.reach(toMs + 3_600_000);
        for (const hour of tails.hours) hours.push({ series: { ...series, version: '' }, hour });
      }
      const read: SeriesHour[] = [];
      for await (const piece of readHours(rig.client, toMs + 3_600_000, quantiles, 2_000)) {
        read.push(...piece);
      }
      const nameOf = ({ series, hour }: SeriesHour) => `${hour.startMs} ${unversionedKey(series)}`;
      const drift = anomalyFixture({
        ...{ kind: 'drift', model: 'ranker', version: '', request_type: '' },
        started_at: new Date(startMs).toISOString(),
      });
      const { timeline } = await explainAnomaly(rig.client, [drift], {
        nowMs: Date.now(),
        windowMs: 10_000,
      });
      expect(timeline.reduce((sum, { requests }) => sum + requests, 0)).toBe(400);
      const inOrder = (all: readonly SeriesHour[]) =>
        [...all].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
      expect(inOrder(read).map(nameOf)).toEqual(inOrder(hours).map(nameOf));
      expect(read.reduce((sum, { hour }) => sum + hour.requests, 0)).toBe(events.length);
      for (const [i, { hour }] of inOrder(read).entries()) {
        const own = inOrder(hours)[i]?.hour as HourTail;
        expect([hour.stage, hour.requests]).toEqual([own.stage, own.requests]);
        expect([...hour.meansMs.keys()].sort()).toEqual([...own.meansMs.keys()].sort());
        for (const [stage, ms] of hour.meansMs) expect(ms).toBeCloseTo(own.meansMs.get(stage) ?? 0);
        // Digests that were merged in another order.
        for (const q of [0, 1]) {
          const [a, b] = [hour.quantilesMs[q] as number, own.quantilesMs[q] as number];
          expect(Math.abs(a / b - 1)).toBeLessThan(0.03);
        }
      }
    }));

  it('of the contract and of the views give the ingested data', () =>
    withRig({ stack, name: 'views' }, async (rig) => {
      const events = await fill(rig);
      // As README and DESIGN give it to users.
      const contract = await rig.rows<{ stage: string; q: number[]; n: string }>(
        `SELECT stage, quantilesTDigestMerge(0.5,0.9,0.95,0.99,0.999)(latency) AS q, sum(requests) AS n
         FROM latency_1m WHERE model = 'ranker' AND window_start >= now() - INTERVAL 7 DAY
         GROUP BY stage ORDER BY stage`,
      );
      const ranker = events.filter(({ model }) => model === 'ranker').length;
      expect(contract.map(({ stage, n }) => [stage, Number(n)])).toEqual([
        ['forward', ranker],
        ['queue', ranker],
        ['total', ranker],
      ]);
      for (const { q } of contract) expect([...q].sort((a, b) => a - b)).toEqual(q);

      const errors = events.filter(({ status }) => status === 'error').length;
      for (const resolution of resolutions) {
        const [row] = await rig.rows<Record<string, string | number>>(
          `SELECT sum(requests) AS requests, sum(errors) AS errors, sum(timeouts) AS timeouts,
                  sum(cancelled) AS cancelled, min(min_ms) AS least, max(max_ms) AS most,
                  countIf(p50_ms <= p90_ms AND p90_ms <= p95_ms AND p95_ms <= p99_ms
                          AND p99_ms <= p999_ms AND p999_ms <= max_ms) = count() AS ordered
           FROM {view:Identifier} WHERE stage = 'forward' AND NOT cold_start`,
          { view: `tails_${resolution}` },
        );
        const numbers = Object.entries(row ?? {}).map(([name, value]) => [name, Number(value)]);
        expect([resolution, Object.fromEntries(numbers)]).toEqual([
          resolution,
          {
            requests: 600,
            errors,
            timeouts: errors,
            cancelled: 0,
            least: 20,
            most: 69,
            ordered: 1,
          },
        ]);
      }
      const anomalies = await rig.rows('SELECT id, state FROM anomalies_current');
      expect(anomalies).toEqual([{ id: anomalyFixture().id, state: 'opened' }]);
    }));
});
