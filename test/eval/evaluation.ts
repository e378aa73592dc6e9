import { faultKinds } from './faults.ts';
import { type FaultOutcome, learningDays, type SeriesOutcome } from './judge-series.ts';
import { nullFamilies, windowMs } from './null-families.ts';
import { poissonUpperBound } from './poisson-bound.ts';
import { type RivalName, rivalNames } from './rivals.ts';

/** False pages of one method, in so much traffic without faults. */
export interface FalsePages {
  readonly name: string;
  readonly seriesWeeks: number;
  readonly pages: number;
  /** Per 1,000 series-weeks, and the upper end of the 95 % interval. */
  readonly perThousand: number;
  readonly atMost: number;
  readonly rivals: Readonly<Record<RivalName, number>>;
}

/** Results of the faults of one kind. */
export interface FaultsFound {
  readonly name: string;
  readonly faults: number;
  /** Faults too small to page; the rest of the row excludes them. */
  readonly small: number;
  readonly oracle: number;
  readonly found: number;
  /** Part of the oracle's findings that were found; NaN where it finds none. */
  readonly recall: number;
  readonly medianDelayMs: number;
  /** Median of the delay over the oracle's, both in windows. */
  readonly medianOverOracle: number;
  /** Part of the found ones whose stage was blamed. */
  readonly blamed: number;
  readonly pagesPerFault: number;
  readonly resolvesPerPage: number;
  readonly rivals: Readonly<Record<RivalName, number>>;
}

export interface Evaluation {
  readonly families: readonly FalsePages[];
  readonly allFamilies: FalsePages;
  readonly kinds: readonly FaultsFound[];
  readonly allKinds: FaultsFound;
  /** Part of the pages in traffic with faults that belong to one. */
  readonly precision: number;
  readonly evaluationsPerSecond: number;
}

export function evaluate(outcomes: readonly SeriesOutcome[]): Evaluation {
  const nulls = outcomes.filter(({ faultsFromDay }) => faultsFromDay === undefined);
  const faulty = outcomes.filter(({ faultsFromDay }) => faultsFromDay !== undefined);
  const faults = faulty.flatMap((outcome) => outcome.faults);
  const rightPages = faults.reduce((sum, { pages }) => sum + pages, 0);
  const wrongPages = faulty.reduce((sum, { falsePages }) => sum + falsePages.length, 0);
  const windows = outcomes.reduce((sum, { seriesWindows }) => sum + seriesWindows, 0);
  const detectorMs = outcomes.reduce((sum, outcome) => sum + outcome.detectorMs, 0);
  return {
    families: nullFamilies
      .map(({ name }) =>
        falsePagesOf(
          name,
          nulls.filter(({ family }) => family === name),
        ),
      )
      .filter(({ seriesWeeks }) => seriesWeeks > 0),
    allFamilies: falsePagesOf('all', nulls),
    kinds: faultKinds
      .map(([kind]) =>
        foundOf(
          kind,
          faults.filter((fault) => fault.kind === kind),
        ),
      )
      .filter((found) => found.faults > 0),
    allKinds: foundOf('all', faults),
    precision: rightPages / (rightPages + wrongPages),
    evaluationsPerSecond: (windows / detectorMs) * 1000,
  };
}

/** False pages of some series, all with nothing wrong. */
export function falsePagesOf(name: string, outcomes: readonly SeriesOutcome[]): FalsePages {
  const seriesWeeks = outcomes.reduce((sum, { days }) => sum + (days - learningDays) / 7, 0);
  const pages = outcomes.reduce((sum, { falsePages }) => sum + falsePages.length, 0);
  const perThousand = (n: number) => (n / seriesWeeks) * 1000;
  return {
    ...{ name, seriesWeeks, pages, perThousand: perThousand(pages) },
    atMost: perThousand(poissonUpperBound(pages)),
    rivals: byRival((rival) =>
      perThousand(outcomes.reduce((sum, { rivalFalsePages }) => sum + rivalFalsePages[rival], 0)),
    ),
  };
}

/** What became of some faults. */
export function foundOf(name: string, all: readonly FaultOutcome[]): FaultsFound {
  const faults = all.filter(({ isSmall }) => !isSmall);
  const found = faults.filter(({ delayMs }) => delayMs !== undefined);
  const possible = faults.filter(({ oracleWindows }) => oracleWindows !== undefined);
  const both = possible.filter(({ delayMs }) => delayMs !== undefined);
  const part = (some: number, all: number) => (all === 0 ? Number.NaN : some / all);
  const sum = (of: (fault: FaultOutcome) => number) =>
    faults.reduce((total, fault) => total + of(fault), 0);
  const pages = sum((fault) => fault.pages);
  return {
    ...{ name, faults: all.length, small: all.length - faults.length },
    ...{ oracle: possible.length, found: found.length },
    recall: part(both.length, possible.length),
    medianDelayMs: median(found.map(({ delayMs }) => delayMs ?? Number.NaN)),
    medianOverOracle: median(
      both.map(
        ({ delayMs, oracleWindows }) =>
          Math.ceil(((delayMs ?? 0) - 2_000) / windowMs) / (oracleWindows ?? 1),
      ),
    ),
    blamed: part(found.filter(({ blamed, stage }) => blamed === stage).length, found.length),
    pagesPerFault: part(pages, found.length),
    resolvesPerPage: part(
      sum(({ resolves }) => resolves),
      pages,
    ),
    rivals: byRival((rival) =>
      part(possible.filter(({ rivals }) => rivals[rival]).length, possible.length),
    ),
  };
}

function byRival(of: (name: RivalName) => number): Record<RivalName, number> {
  return Object.fromEntries(rivalNames.map((name) => [name, of(name)])) as Record<
    RivalName,
    number
  >;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
