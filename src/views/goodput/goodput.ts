import { attributeKey, type Dimension, isAttributeName } from '../../base/dimensions.ts';
import {
  type ConfiguredObjective,
  jointObjectives,
  rowOf,
  saysOfModel,
} from '../../contract/objectives/objective.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { coarsePart, type Resolution } from '../../sink/windows/read-tails.ts';
import type { GoodputAnswer, GoodputRow } from '../answers/goodput.ts';
import { answeredRange, isoTime, parametersOf, type Question } from '../question.ts';
import { unknownNames } from '../unknown-name.ts';
import { viewRows } from '../view-rows.ts';
import { windowsOf } from '../window-states.ts';
import { likePattern } from './like-pattern.ts';

export interface GoodputQuestion extends Question {
  readonly objectives: readonly ConfiguredObjective[];
}

/** The requests of one goodput; '' matches any value. */
export interface GoodputQuery {
  readonly model: string;
  readonly version: string;
  readonly region: string;
  readonly requestType: string;
  readonly attributePairs: string[];
  readonly coldStart: string;
  readonly fromSeconds: number;
  readonly toSeconds: number;
  readonly resolution: Resolution;
}

interface StoredGoodput {
  readonly requests: string | number;
  readonly missed: string | number;
  readonly counted_seconds: number | null;
  readonly first_seconds: number | null;
}

/** A query without rows. */
const nothing = 'SELECT 0 AS requests, 0 AS missed WHERE false';

/**
 * Goodput of a model: the share of its requests that met all thresholds of a joint objective, counted one by
 * one. A row an objective of the model, in the order of `detect.slos`.
 *
 * @throws UnknownName
 */
export async function goodputView(
  client: ClickHouseClient,
  question: GoodputQuestion,
): Promise<GoodputAnswer> {
  const { range, bounds, filters, objectives } = question;
  const { table: _, ...query } = parametersOf(question);
  const read = await readGoodput(client, objectives, { ...query, resolution: range.resolution });
  const isEmpty = read.every(({ row }) => row.requests === 0);
  const shown = read.filter(({ objective, row }) => saysOfModel(objective, row.requests));
  const unknown = isEmpty ? await unknownNames(client, filters) : {};
  const whole = { ...range, stepSeconds: range.toSeconds - range.fromSeconds };
  return {
    range: answeredRange(range, false),
    windows: windowsOf(whole, bounds),
    rows: shown.map(({ row }) => row),
    sql: shown.length === 0 ? nothing : shown.map(({ sql }) => sql).join('\nUNION ALL\n'),
    ...unknown,
  };
}

interface ReadGoodput {
  readonly objective: ConfiguredObjective;
  readonly row: GoodputRow;
  readonly sql: string;
}

/** Goodput of some requests of a model by each joint objective that may be of it, with the query of each. */
export function readGoodput(
  client: ClickHouseClient,
  objectives: readonly ConfiguredObjective[],
  asked: GoodputQuery,
): Promise<ReadGoodput[]> {
  const { resolution, ...parameters } = asked;
  const coarse = coarsePart(resolution, asked.fromSeconds, asked.toSeconds);
  return Promise.all(
    jointObjectives(objectives, asked.model).map(async (objective) => {
      const { rows, sql } = await viewRows<StoredGoodput>(client, 'view_goodput', {
        ...parameters,
        ...patternsOf(objective),
        row: rowOf(objective),
        table: `latency_${resolution}`,
        coarseTable: coarse.table,
        coarseFromSeconds: coarse.fromSeconds,
        coarseToSeconds: coarse.toSeconds,
      });
      return { objective, row: goodputOf(objective, rows[0]), sql };
    }),
  );
}

function goodputOf(
  { name, objective, thresholds }: ConfiguredObjective,
  stored: StoredGoodput | undefined,
): GoodputRow {
  const requests = Number(stored?.requests ?? 0);
  const missed = Number(stored?.missed ?? 0);
  const { counted_seconds = null, first_seconds = null } = stored ?? {};
  const isSince = counted_seconds !== null && first_seconds !== null;
  return {
    ...{ name, objective, requests, missed },
    thresholds: Object.entries(thresholds).map(([stage, ms]) => ({ stage, ms })),
    goodput: requests === 0 ? null : (requests - missed) / requests,
    counted_from: isSince && counted_seconds > first_seconds ? isoTime(counted_seconds) : null,
  };
}

/** What an objective matches apart from the model, as parameters of the asked. */
function patternsOf({ match }: ConfiguredObjective) {
  const own = Object.entries(match).flatMap(([name, pattern]) =>
    isAttributeName(name)
      ? [{ name: attributeKey(name), pattern: likePattern(pattern ?? '*') }]
      : [],
  );
  const of = (dimension: Dimension) => likePattern(match[dimension] ?? '*');
  return {
    servicePattern: of('service'),
    versionPattern: of('version'),
    requestTypePattern: of('request_type'),
    regionPattern: of('region'),
    hostPattern: of('host'),
    tenantPattern: of('tenant'),
    coldStartPattern: of('cold_start'),
    attributeNames: own.map(({ name }) => name),
    attributePatterns: own.map(({ pattern }) => pattern),
  };
}
