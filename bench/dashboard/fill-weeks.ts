import type { ClickHouseClient } from '@clickhouse/client';
import { standardStages, totalStage } from '../../src/base/dimensions.ts';

/** Which windows are filled. */
export interface Fleet {
  readonly models: number;
  readonly versions: number;
  readonly regions: number;
  readonly requestsPerSecond: number;
  /** Days before now that are filled. */
  readonly days: number;
  /** Hours of the newest 1-minute windows. */
  readonly minuteHours: number;
}

/** 1,000 series with ten requests a second each: a week, and the week before it as its baseline. */
export const fleet: Fleet = {
  ...{ models: 50, versions: 4, regions: 5, requestsPerSecond: 10 },
  ...{ days: 15, minuteHours: 8 },
};
/** Windows to choose from, each drawn by itself. */
const templates = 24;
const stages = [totalStage, ...standardStages];

export const modelName = (n: number, { models }: Pick<Fleet, 'models'> = fleet) =>
  `model-${String(n).padStart(digitsOf(models), '0')}`;

const digitsOf = (models: number) => String(models - 1).length;

/** Lognormal milliseconds of a request, as ClickHouse draws them. */
function drawn(seed: string): string {
  const unit = (n: number) => `((cityHash64(${seed}, ${n}) + 1) / 18446744073709551616)`;
  return `exp(4 + 0.5 * sqrt(-2 * log(${unit(1)})) * cos(2 * pi() * ${unit(2)}))`;
}

/**
 * Fills windows of an hour and of a day of all series and stages, the newest windows of a minute of whole
 * requests and of one model's stages, and some slowest requests of each minute of that model.
 *
 * @param toMs a whole hour
 */
export async function fillWeeks(
  client: ClickHouseClient,
  toMs: number,
  of: Fleet = fleet,
): Promise<void> {
  const { models, versions, regions, requestsPerSecond, days, minuteHours } = of;
  const shown = modelName(7, of);
  const command = (query: string) => client.command({ query });
  for (const [length, seconds] of [
    ['1m', 60],
    ['1h', 3_600],
    ['1d', 86_400],
  ] as const) {
    // A tenth of the requests of an hour or a day gives the same states; its counts are scaled.
    const scale = length === '1m' ? 1 : length === '1h' ? 10 : 240;
    const requests = (seconds * requestsPerSecond) / scale;
    await command(`CREATE TABLE template_${length} ENGINE = Memory AS
      SELECT intDiv(number, ${requests}) AS n, toUInt64(count() * ${scale}) AS requests,
        sum(ms) * ${scale} AS sum_ms, min(ms) AS min_ms, max(ms) AS max_ms,
        quantilesTDigest${'State'}(0.5, 0.9, 0.95, 0.99, 0.999)(toFloat32(ms)) AS latency,
        sumMap(map(band, toFloat64(${scale}))) AS bands, sumMap(map(band, ms * ${scale})) AS bands_ms
      FROM (SELECT number, ${drawn('number')} AS ms, toInt16(floor(4 * log2(ms))) AS band
            FROM numbers(${templates * requests}))
      GROUP BY n`);
  }
  const toSeconds = toMs / 1000;
  // Of more than 1,000 series fewer windows are filled at once, so that the server has the memory.
  const series = models * versions * regions;
  const atOnce = (windows: number) => Math.max(1, Math.floor((windows * 1_000) / series));
  /** @param wanted rows that are filled: all, or some. */
  const fill = (
    length: '1m' | '1h' | '1d',
    from: number,
    seconds: number,
    count: number,
    wanted = 'true',
  ) =>
    command(`INSERT INTO latency_${length} (window_start, model, version, region, request_type, cold_start, stage,
        requests, sum_ms, min_ms, max_ms, latency, bands, bands_ms)
      SELECT w.at, w.model, w.version, w.region, 'rank', false, w.stage, t.requests, t.sum_ms, t.min_ms, t.max_ms,
        t.latency, if(w.stage = 'total', t.bands, t.bands_ms), if(w.stage = 'total', t.bands_ms, map())
      FROM (
        SELECT toDateTime(${from} + ${seconds} * number, 'UTC') AS at,
          concat('model-', leftPad(toString(m), ${digitsOf(models)}, '0')) AS model, concat('v', toString(v)) AS version,
          concat('region-', toString(r)) AS region, stage,
          toUInt64(cityHash64(at, m, v, r, stage) % ${templates}) AS n
        FROM numbers(${count})
        ARRAY JOIN range(${models}) AS m
        ARRAY JOIN range(${versions}) AS v
        ARRAY JOIN range(${regions}) AS r
        ARRAY JOIN [${stages.map((stage) => `'${stage}'`).join()}] AS stage
        WHERE ${wanted}
      ) AS w
      INNER JOIN template_${length} AS t ON t.n = w.n`);
  const firstSeconds = Math.floor(toSeconds / 86_400 - days) * 86_400;
  const hours = atOnce(8);
  for (let at = firstSeconds; at < toSeconds; at += hours * 3_600) {
    await fill('1h', at, 3_600, Math.min(hours, (toSeconds - at) / 3_600));
  }
  const wholeDays = Math.floor((toSeconds - firstSeconds) / 86_400);
  for (let day = 0; day < wholeDays; day++) await fill('1d', firstSeconds + day * 86_400, 0, 1);
  const minutesFrom = toSeconds - minuteHours * 3_600;
  const minutes = atOnce(20);
  for (let at = minutesFrom; at < toSeconds; at += minutes * 60) {
    await fill('1m', at, 60, minutes, `stage = 'total' OR model = '${shown}'`);
  }
  await command(`INSERT INTO exemplars (window_start, event_time, model, version, region, request_type, cold_start,
      status, total_ms, trace_id, stages_ms)
    SELECT toDateTime(at, 'UTC'), toDateTime64(at + 5, 3, 'UTC'), '${shown}', concat('v', toString(number % 4)),
      concat('region-', toString(number % 5)), 'rank', false, 'ok', ${drawn('number')} + 300, toString(number),
      map('forward', 200.0, 'features', 100.0)
    FROM (SELECT number, ${firstSeconds} + 60 * intDiv(number, 100) AS at
          FROM numbers(${Math.floor((toSeconds - firstSeconds) / 60) * 100}))`);
}
