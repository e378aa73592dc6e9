import { matchesPattern } from '../../../alert/routing/matches.ts';
import type { Logger } from '../../../base/telemetry/log.ts';
import { configuredMargin } from '../../../compare/compare-options.ts';
import { compareVersions } from '../../../compare/compare-versions.ts';
import type { Comparison } from '../../../compare/comparison.ts';
import { parseDuration } from '../../../config/duration.ts';
import type { Config } from '../../../config/schema.ts';
import { epochMsOf } from '../../../decode/epoch-ms-of.ts';
import { type Mute, MuteStore } from '../../../sink/anomalies/mute-store.ts';
import type { ClickHouseClient } from '../../../sink/clickhouse.ts';
import { longestComparisonMs, readComparison } from '../../../sink/read-comparison.ts';
import { readTails, type StageTails } from '../../../sink/read-tails.ts';
import { readFirstMinute } from '../../../sink/windows/read-first-minute.ts';
import type { Completeness } from '../../detect/completeness/completeness.ts';
import type { AutoscaleQuery, AutoscaleSources } from './autoscale.ts';
import type { ReleaseQuery } from './gate.ts';
import { Problem } from './problem.ts';

const weekMs = 7 * 86_400_000;
const hourMs = 3_600_000;

export interface ApiSources {
  verdict(
    release: Pick<ReleaseQuery, 'model' | 'version' | 'baseline'> & { since?: string | undefined },
  ): Promise<Comparison & { readonly since: string }>;
  autoscaling(query: AutoscaleQuery & { readonly q: number }): AutoscaleSources;
  /** The strictest threshold of `detect.slos` for a model; undefined without one. */
  objectiveMs(model: string): number | undefined;
  mutes(): Promise<readonly Mute[]>;
  putMute(mute: Mute): Promise<void>;
  /** Ends a mute now; undefined where there is none. */
  endMute(id: string): Promise<Mute | undefined>;
  readonly nowMs: () => number;
  readonly log: Logger;
}

export interface SourceOptions {
  readonly config: Config;
  readonly client: ClickHouseClient;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly completeness: () => Promise<Completeness>;
}

/** What the API answers from: the tables, and how complete they are. */
export function openSources(options: SourceOptions): ApiSources {
  const { config, client, log, nowMs, completeness } = options;
  const mutes = new MuteStore(client);
  return {
    log,
    nowMs,
    verdict: (release) => releaseVerdict(options, release),
    objectiveMs: (model) => objectiveOf(config, model),
    autoscaling: (query) => ({
      nowMs,
      completeness,
      load: async (fromMs, toMs) => {
        const [tails] = await stageTails(client, query, fromMs, toMs);
        const quantileMs = tails === undefined ? undefined : quantileOf(tails, query.q);
        return { requests: tails?.requests ?? 0, quantileMs };
      },
      isKnown: async () => {
        const found = await stageTails(client, query, nowMs() - weekMs, nowMs());
        return found.some(({ requests }) => requests > 0);
      },
    }),
    mutes: () => mutes.endingAfter(nowMs()),
    putMute: (mute) => mutes.put(mute),
    endMute: async (id) => {
      const now = nowMs();
      const found = (await mutes.endingAfter(now)).find((mute) => mute.id === id);
      if (found === undefined) return undefined;
      const ended = { ...found, fromMs: Math.min(found.fromMs, now), untilMs: now };
      await mutes.put(ended);
      return ended;
    },
  };
}

function stageTails(
  client: ClickHouseClient,
  { model, stage }: AutoscaleQuery,
  fromMs: number,
  toMs: number,
): Promise<StageTails[]> {
  const any = { version: '', region: '', requestType: '', coldStart: '' } as const;
  return readTails(client, { ...any, model, stage, fromMs, toMs });
}

function quantileOf(tails: StageTails, q: number): number | undefined {
  const byQuantile: Readonly<Record<string, number>> = {
    0.5: tails.p50_ms,
    0.9: tails.p90_ms,
    0.95: tails.p95_ms,
    0.99: tails.p99_ms,
    0.999: tails.p999_ms,
  };
  return byQuantile[q];
}

function objectiveOf({ detect }: Config, model: string): number | undefined {
  const thresholds = detect.slos
    .filter((slo) => slo.request_type === undefined && matchesPattern(slo.model, model))
    .map(({ threshold }) => threshold);
  return thresholds.length === 0 ? undefined : Math.min(...thresholds);
}

async function releaseVerdict(
  { config, client, nowMs }: SourceOptions,
  { model, version, baseline, since }: Parameters<ApiSources['verdict']>[0],
) {
  const now = nowMs();
  const fromMs =
    since === undefined ? await releasedMs(client, model, version, now) : timeOf(since, now);
  if (fromMs >= now) throw new Problem(400, 'since must lie before now.');
  const input = await readComparison(client, config, {
    ...{ fromMs, toMs: now, model, candidate: version, baseline },
    ...{ region: '', requestType: '', coldStart: 'false' as const },
  });

  return {
    ...compareVersions(input, configuredMargin(config.detect)),
    since: new Date(fromMs).toISOString(),
  };
}

/**
 * Start of the comparison: the version's first minute, which stays the same however often it is asked. Of an older
 * version the last whole hours that may be compared.
 */
async function releasedMs(
  client: ClickHouseClient,
  model: string,
  version: string,
  now: number,
): Promise<number> {
  const oldestMs = Math.ceil((now - longestComparisonMs) / hourMs) * hourMs;
  const firstMs = await readFirstMinute(client, { model, version, fromMs: oldestMs });
  if (firstMs === undefined) {
    throw new Problem(503, `No request of version ${version} of model ${model} is stored yet.`, 30);
  }
  return firstMs;
}

function timeOf(text: string, now: number): number {
  const agoMs = parseDuration(text);
  const ms = agoMs === undefined ? epochMsOf(text) : now - agoMs;
  if (Number.isNaN(ms)) throw new Problem(400, 'since must be a duration such as 1h, or RFC 3339.');
  if (now - ms > longestComparisonMs) throw new Problem(400, 'since must be at most 24h ago.');
  return ms;
}
