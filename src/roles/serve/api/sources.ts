import { valuesOf } from '../../../alert/routing/matches.ts';
import { unseenValues } from '../../../alert/routing/unseen-values.ts';
import type { Logger } from '../../../base/telemetry/log.ts';
import { dayMs, hourMs, weekMs } from '../../../base/time.ts';
import { configuredMargin } from '../../../compare/compare-options.ts';
import type { Comparison } from '../../../compare/comparison.ts';
import { compareVersions } from '../../../compare/verdict/compare-versions.ts';
import { servedLately } from '../../../compare/verdict/served-lately.ts';
import { parseDuration } from '../../../config/duration.ts';
import type { Config } from '../../../config/schema.ts';
import type { AnomalyEvent } from '../../../contract/anomaly-event.ts';
import { jointObjectives, objectivesOf } from '../../../contract/objectives/objective.ts';
import { StageTable } from '../../../contract/stage-table.ts';
import { epochMsOf } from '../../../decode/epoch-ms-of.ts';
import { matchesPattern } from '../../../series/matches-pattern.ts';
import { AnomalyStore } from '../../../sink/anomalies/anomaly-store.ts';
import { type Mute, MuteStore } from '../../../sink/anomalies/mute-store.ts';
import type { ClickHouseClient } from '../../../sink/client/clickhouse.ts';
import { endingWith } from '../../../sink/client/ending-with.ts';
import { seenValuesOf } from '../../../sink/read-seen-values.ts';
import { readTails, type StageTails } from '../../../sink/windows/read-tails.ts';
import { readWindowRequests } from '../../../sink/windows/read-window-requests.ts';
import { readFirstMinute } from '../../../sink/windows/window-range.ts';
import type { ComparedGoodput } from '../../../views/answers/compare.ts';
import { comparedGoodput } from '../../../views/comparison/compared-goodput.ts';
import { longestComparisonMs, readVersions } from '../../../views/comparison/read-comparison.ts';
import type { Completeness } from '../../detect/completeness/completeness.ts';
import { Problem } from '../../http/problem.ts';
import type { AutoscaleQuery, AutoscaleSources } from './autoscale.ts';
import type { ReleaseQuery } from './gate.ts';

/** A verdict, and when it begins. */
export interface ReleaseVerdict extends Comparison {
  /** Null for a version without a request in the last day. */
  readonly since: string | null;
  /** Read only where it is shown. */
  readonly goodput?: readonly ComparedGoodput[];
}

export interface ApiSources {
  /**
   * @param release.hidesModels true where the reason may not name other models. @default {false}
   * @param release.showsGoodput true where the answer has the goodput of both. @default {false}
   */
  verdict(
    release: Pick<ReleaseQuery, 'model' | 'version' | 'baseline'> & {
      since?: string | undefined;
      stages?: readonly string[] | undefined;
      hidesModels?: boolean;
      showsGoodput?: boolean;
    },
    signal: AbortSignal,
  ): Promise<ReleaseVerdict>;
  autoscaling(
    asked: AutoscaleQuery & { readonly q: number },
    signal: AbortSignal,
  ): AutoscaleSources;
  /** The strictest threshold of `detect.slos` for a stage of a model; undefined without one. */
  objectiveMs(model: string, stage: string): number | undefined;
  mutes(signal: AbortSignal): Promise<readonly Mute[]>;
  /** Stores a mute; returns sentences on what it names and no recent event has. */
  putMute(mute: Mute): Promise<readonly string[]>;
  /** Ends a mute now; undefined where there is none. @param by who ends it */
  endMute(id: string, by: string): Promise<Mute | undefined>;
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

/** The sources of the API: the tables, and how complete they are. Reading ends with its signal. */
export function openSources(options: SourceOptions): ApiSources {
  const { config, client, log, nowMs } = options;
  const mutes = new MuteStore(client);
  return {
    log,
    nowMs,
    verdict: (release, signal) =>
      releaseVerdict({ ...options, client: endingWith(client, signal) }, release),
    objectiveMs: (model, stage) => objectiveOf(config, model, stage),
    autoscaling: (query, signal) => autoscaleSources(options, query, signal),
    mutes: (signal) => new MuteStore(endingWith(client, signal)).endingAfter(nowMs()),
    putMute: async (mute) => {
      await mutes.put(mute);
      return unseenValues(mute, nowMs(), seenValuesOf(client));
    },
    endMute: (id, by) => mutes.end(id, by, nowMs()),
  };
}

function autoscaleSources(
  { client: whole, nowMs, completeness }: SourceOptions,
  asked: AutoscaleQuery & { readonly q: number },
  signal: AbortSignal,
): AutoscaleSources {
  const client = endingWith(whole, signal);
  return {
    nowMs,
    completeness,
    load: async (fromMs, toMs) => {
      const [tails] = await stageTails(client, asked, fromMs, toMs);
      const quantileMs = tails === undefined ? undefined : quantileOf(tails, asked.q);
      return { requests: tails?.requests ?? 0, quantileMs };
    },
    isKnown: async () => {
      // On its first day nobody knows when a model has requests, so its silence says nothing.
      const found = await stageTails(client, asked, nowMs() - weekMs, nowMs() - dayMs);
      return found.some(({ requests }) => requests > 0);
    },
    hasEvents: async (fromMs, toMs) => {
      const range = { fromMs, toMs, windowMs: toMs - fromMs };
      const requests = await readWindowRequests(client, range);
      return [...requests.values()].some((n) => n > 0);
    },
    silence: async () => silenceOf(await new AnomalyStore(client).open(), asked.model),
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

function objectiveOf({ detect }: Config, model: string, stage: string): number | undefined {
  const thresholds = objectivesOf(detect.slos).flatMap(({ isJoint, match, thresholds }) => {
    const { model: pattern = '*', ...others } = match;
    const isOther = isJoint || Object.keys(others).length > 0 || !matchesPattern(pattern, model);
    return isOther ? [] : (thresholds[stage] ?? []);
  });
  return thresholds.length === 0 ? undefined : Math.min(...thresholds);
}

async function releaseVerdict(
  { config, client, nowMs }: SourceOptions,
  { model, version, baseline, since, stages, ...shown }: Parameters<ApiSources['verdict']>[0],
): Promise<ReleaseVerdict> {
  const now = nowMs();
  const sinceMs =
    since === undefined ? await releasedMs(client, model, version, now) : timeOf(since, now);
  if (sinceMs !== undefined && sinceMs >= now) {
    throw new Problem(400, `since must lie before now; it is ${JSON.stringify(since)}.`);
  }
  const input = await readVersions(client, config, {
    ...{ fromMs: sinceMs ?? oldestMs(now), toMs: now, model, candidate: version, baseline },
    ...{ region: '', requestType: '', coldStart: 'false' as const, attributePairs: [] },
  });
  const known = input.known && shown.hidesModels ? { ...input.known, models: [] } : input.known;
  const objectives = jointObjectives(objectivesOf(config.detect.slos), model);
  const table = new StageTable(config.stages);
  const comparison = compareVersions(
    { ...input, ...(known && { known }), table, tested: stages, objectives },
    configuredMargin(config.detect),
  );
  return {
    ...servedLately(comparison, input),
    ...(shown.showsGoodput && {
      goodput: await comparedGoodput(client, objectives, input.query, input.minutes),
    }),
    since: sinceMs === undefined ? null : new Date(sinceMs).toISOString(),
  };
}

/**
 * Start of the comparison: the version's first minute, which stays the same however often it is asked. Of an
 * older version the last whole hours that may be compared; undefined without a request in them.
 */
function releasedMs(
  client: ClickHouseClient,
  model: string,
  version: string,
  now: number,
): Promise<number | undefined> {
  return readFirstMinute(client, { model, version, fromMs: oldestMs(now) });
}

function oldestMs(now: number): number {
  return Math.ceil((now - longestComparisonMs) / hourMs) * hourMs;
}

/** The open anomaly that says that requests of a model, or of all, have stopped. */
function silenceOf(open: readonly AnomalyEvent[], model: string): AnomalyEvent | undefined {
  return open.find(
    (event) =>
      event.kind === 'no_data' &&
      event.state !== 'resolved' &&
      (event.model === '' || valuesOf(event, 'model').includes(model)),
  );
}

function timeOf(text: string, now: number): number {
  const agoMs = parseDuration(text);
  const ms = agoMs === undefined ? epochMsOf(text) : now - agoMs;
  const is = `it is ${JSON.stringify(text)}`;
  if (Number.isNaN(ms)) {
    throw new Problem(400, `since must be a duration such as 1h or an RFC 3339 time; ${is}.`);
  }
  if (now - ms > longestComparisonMs) {
    throw new Problem(400, `since must be at most 24h ago; ${is}.`);
  }
  return ms;
}
