import { measures } from '../../src/base/dimensions.ts';
import { configSchema } from '../../src/config/schema.ts';
import {
  type ConfiguredObjective,
  isOfSeries,
  objectivesOf,
  rowOf,
} from '../../src/contract/objectives/objective.ts';
import type { ObjectiveCounts, Series, SeriesWindow } from '../../src/series/series-window.ts';
import { mulberry32, SeededRandom } from '../base/seeded-random.ts';
import type { Scenario } from './scenario-schema.ts';
import { summarizeWindow } from './summarize-window.ts';

/** A round multiple of an hour, so that windows and blocks begin where they would in production. */
export const scenarioStartMs = Date.UTC(2026, 10, 1);

/** Requests of a series in a window: milliseconds of each stage, and of the total last. */
interface Request {
  readonly ms: readonly number[];
  readonly isTimeout: boolean;
}

/** Every window of a scenario: one list of series per window start. */
export function scenarioWindows(scenario: Scenario, windowMs: number): SeriesWindow[][] {
  const windows: SeriesWindow[][] = Array.from({ length: scenario.windows }, () => []);
  const objectives = objectivesOf(configSchema.parse({ detect: scenario.detect }).detect.slos);
  scenario.series.forEach(({ stages: models, partial, restless, output_tokens }, index) => {
    const random = new SeededRandom(scenario.seed * 1000 + index, mulberry32);
    const derived = output_tokens === undefined ? [] : [measures.timePerOutputToken];
    const names = [...Object.keys(models), ...derived, 'total'];
    const ended: Request[][] = windows.map(() => []);
    let varianceInflation = 0;
    for (let at = 0; at < scenario.windows; at++) {
      const memory = restless?.memory ?? 0;
      varianceInflation = memory * varianceInflation + Math.sqrt(1 - memory ** 2) * random.normal();
      const begun = sampleWindow(scenario, index, at, random, varianceInflation);
      begun.forEach((request, n) => {
        const laterBy = windowsLater(request, (n + 0.5) / begun.length, windowMs);
        ended[at + laterBy]?.push(request);
      });
    }
    ended.forEach((requests, at) => {
      if (requests.length === 0) return;
      const shown = partial ? names.slice(0, -1) : names;
      const stages = new Map(
        shown.map((name, stage) => [name, requests.map(({ ms }) => ms[stage] as number)]),
      );
      const failed = { errors: 0, timeouts: requests.filter(({ isTimeout }) => isTimeout).length };
      const windowStartMs = scenarioStartMs + at * windowMs;
      const series = scenarioSeries(scenario, index);
      const counts = countsOf(objectives, series, shown, requests);
      windows[at]?.push({
        ...summarizeWindow({ series, windowStartMs, windowMs, stages, failed }),
        ...(counts.size > 0 && { objectives: counts }),
      });
    });
  });
  return windows;
}

/** What ingest would count of joint objectives. @param names stages of the requests' milliseconds. */
function countsOf(
  objectives: readonly ConfiguredObjective[],
  series: Series,
  names: readonly string[],
  requests: readonly Request[],
): Map<string, ObjectiveCounts> {
  const own = objectives.filter((each) => each.isJoint && isOfSeries(each, series));
  return new Map(
    own.map((objective) => {
      const missed = requests.filter(
        ({ ms, isTimeout }) =>
          isTimeout ||
          names.some((name, i) => (ms[i] as number) > (objective.thresholds[name] ?? Infinity)),
      );
      return [rowOf(objective), { requests: requests.length, bad: missed.length }];
    }),
  );
}

/**
 * How many windows after the one in which it began a request ends, and so counts, where it began after that
 * part of the window. One shorter than a window counts where it began: of ten thousand such requests some
 * hundred would move, and no story depends on them.
 */
function windowsLater({ ms }: Request, part: number, windowMs: number): number {
  const totalMs = ms.at(-1) as number;
  return totalMs < windowMs ? 0 : Math.floor(part + totalMs / windowMs);
}

export function scenarioSeries(scenario: Scenario, index: number): Series {
  const { model, version, region, request_type, cold_start } = scenario.series[index]!;
  const absent = { service: '', host: '', tenant: '' };
  return { ...absent, model, version, region, request_type, cold_start };
}

function sampleWindow(
  scenario: Scenario,
  index: number,
  at: number,
  random: SeededRandom,
  varianceInflation: number,
): Request[] {
  const { stages, restless, requests: baseline } = scenario.series[index]!;
  const faults = scenario.faults.filter(({ series, windows: [first, last], every }) => {
    const block = Math.floor((at - first) / every);
    return (
      [series].flat().includes(index) &&
      at >= first &&
      at <= last &&
      (every === 1 || block % 2 === 0)
    );
  });
  const given = faults.find((fault) => fault.requests !== undefined)?.requests ?? baseline;
  const requests = given > 0 && given < 1 ? Number(random.unit() < given) : given;
  const columns: number[][] = [];
  const isTimeout = new Array<boolean>(requests).fill(false);
  const totals = new Array<number>(requests).fill(0);
  const tokens = scenario.series[index]!.output_tokens;
  const tokensFactor = faults.reduce((factor, fault) => factor * fault.output_tokens, 1);
  const outputTokens = totals.map(() =>
    tokens === undefined
      ? 1
      : Math.max(
          2,
          Math.round(tokensFactor * tokens.median * Math.exp(tokens.sigma * random.normal())),
        ),
  );
  let firstTokenMs: readonly number[] = [];
  for (const [stage, model] of Object.entries(stages)) {
    if ('milestone' in model) {
      columns.push([...totals]);
      if (stage === 'first_token') firstTokenMs = [...totals];
      continue;
    }
    const { median_ms, sigma, per_token } = model;
    const own = faults.filter((fault) => fault.stage === stage);
    const slowed: { factor: number; share: number; timeout_ms?: number | undefined }[] = own;
    if (restless?.stage === stage) {
      const slowShare = faults.find((fault) => fault.slow_share !== undefined)?.slow_share;
      const share = (slowShare ?? restless.share) * Math.exp(restless.sigma * varianceInflation);
      slowed.push({ factor: restless.factor, share });
    }
    const values = totals.map((_, request) => {
      const times = per_token ? (outputTokens[request] as number) - 1 : 1;
      let ms = times * median_ms * Math.exp(sigma * random.normal());
      for (const { factor, share, timeout_ms } of slowed) {
        if (random.unit() >= share) continue;
        ms *= factor;
        if (timeout_ms === undefined) continue;
        ms = timeout_ms - (totals[request] as number);
        isTimeout[request] = true;
      }
      totals[request]! += ms;
      return ms;
    });
    columns.push(values);
  }
  if (tokens !== undefined) {
    const perTokenMs = (totalMs: number, n: number) =>
      (totalMs - (firstTokenMs[n] as number)) / ((outputTokens[n] as number) - 1);
    columns.push(totals.map(perTokenMs));
  }
  columns.push(totals);
  return totals.map((_, request) => ({
    ms: columns.map((values) => values[request] as number),
    isTimeout: isTimeout[request] as boolean,
  }));
}
