import type { Series, SeriesWindow } from '../../src/baseline/series-window.ts';
import type { Scenario } from './scenario-schema.ts';
import { SeededRandom } from './seeded-random.ts';
import { summarizeWindow } from './summarize-window.ts';

/** A round multiple of an hour, so that windows and blocks begin where they would in production. */
export const scenarioStartMs = Date.UTC(2026, 10, 1);

/** Every window of a scenario: one list of series per window start. */
export function scenarioWindows(scenario: Scenario, windowMs: number): SeriesWindow[][] {
  const windows: SeriesWindow[][] = Array.from({ length: scenario.windows }, () => []);
  scenario.series.forEach((_, index) => {
    const random = new SeededRandom(scenario.seed * 1000 + index);
    let restlessness = 0;
    for (let at = 0; at < scenario.windows; at++) {
      const memory = scenario.series[index]?.restless?.memory ?? 0;
      restlessness = memory * restlessness + Math.sqrt(1 - memory ** 2) * random.normal();
      const stages = sampleWindow(scenario, index, at, random, restlessness);
      if (stages === undefined) continue;
      const windowStartMs = scenarioStartMs + at * windowMs;
      const series = scenarioSeries(scenario, index);
      windows[at]?.push(summarizeWindow({ series, windowStartMs, windowMs, stages }));
    }
  });
  return windows;
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
  restlessness: number,
): Map<string, number[]> | undefined {
  const { stages, restless, partial, requests: usual } = scenario.series[index]!;
  const faults = scenario.faults.filter(({ series, windows: [first, last], every }) => {
    const block = Math.floor((at - first) / every);
    return (
      [series].flat().includes(index) &&
      at >= first &&
      at <= last &&
      (every === 1 || block % 2 === 0)
    );
  });
  const requests = faults.find((fault) => fault.requests !== undefined)?.requests ?? usual;
  if (requests === 0) return undefined;
  const samples = new Map<string, number[]>();
  const totals = new Array<number>(requests).fill(0);
  for (const [stage, { median_ms, sigma }] of Object.entries(stages)) {
    const slowed: { factor: number; share: number }[] = faults.filter((f) => f.stage === stage);
    if (restless?.stage === stage) {
      const slowShare = faults.find((fault) => fault.slow_share !== undefined)?.slow_share;
      const share = (slowShare ?? restless.share) * Math.exp(restless.sigma * restlessness);
      slowed.push({ factor: restless.factor, share });
    }
    const values = totals.map((_, request) => {
      let ms = median_ms * Math.exp(sigma * random.normal());
      for (const { factor, share } of slowed) if (random.next() < share) ms *= factor;
      totals[request]! += ms;
      return ms;
    });
    samples.set(stage, values);
  }
  if (!partial) samples.set('total', totals);
  return samples;
}
