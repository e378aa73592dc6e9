import { overflowValue, totalStage } from '../base/dimensions.ts';
import { minuteMs } from '../base/time.ts';
import type { AnomalyEvent } from '../contract/anomaly-event.ts';
import {
  baselineValues,
  driverMinutes,
  type FoundDrivers,
  foundDrivers,
  hasDrivers,
  type MinuteRange,
  measuredRange,
  noDrivers,
  type SeriesBands,
} from '../detect/drivers/found-drivers.ts';
import type { FacetBands } from '../detect/drivers/slow-band.ts';
import { seriesKey, seriesOfKey } from '../series/series-key.ts';
import type { Series, StageSummary } from '../series/series-window.ts';
import { bandRange } from '../sketch/band.ts';
import type { ChunkAccumulator } from '../window/chunk-accumulator.ts';

/** Requests of one minute by band. */
interface MinuteBands {
  readonly minute: number;
  readonly bands: ArrayLike<number>;
  readonly amounts: ArrayLike<number>;
}

interface FacetMinute extends MinuteBands {
  readonly facet: string;
  readonly value: string;
}

type Amounts = Map<number, number>;

const bandNumbers = new Int16Array(bandRange.count);
const bandAmounts = new Float64Array(bandRange.count);

/**
 * Drivers of slow requests in a recording: the same as `readDrivers` reads from the tables.
 *
 * Memory: some 300 bytes for each minute and value of a facet that has requests.
 */
export class MemoryDrivers {
  readonly #keptMinutes: number;
  readonly #windowMs: number;
  /** Minutes in approximate order, by model and version, and by series. */
  readonly #facets = new Map<string, FacetMinute[]>();
  readonly #totals = new Map<string, MinuteBands[]>();
  #expiredTo = Number.NEGATIVE_INFINITY;

  /** @param keptMs retention of minutes. */
  constructor(windowMs: number, keptMs: number) {
    this.#windowMs = windowMs;
    this.#keptMinutes = Math.ceil(keptMs / minuteMs);
  }

  /**
   * Adds the facets of a chunk before it is reset.
   *
   * @param nextMs start of the next window to be evaluated: a chunk of little traffic spans hours.
   */
  observe({ drivers, values }: ChunkAccumulator, nextMs: number): void {
    for (let row = 0; row < drivers.size; row++) {
      const n = drivers.readBands(row, bandNumbers, bandAmounts);
      const [model, version] = [drivers.modelId(row), drivers.versionId(row)];
      pushTo(this.#facets, groupKey(values.text(model), values.text(version)), {
        minute: drivers.minute(row),
        facet: drivers.facet(row),
        value: drivers.value(row, (id) => values.text(id)) || overflowValue,
        bands: bandNumbers.slice(0, n),
        amounts: bandAmounts.slice(0, n),
      });
    }
    const fromMinute = Math.floor(nextMs / minuteMs) - this.#keptMinutes;
    // Once an hour; never before the first window.
    if (!(fromMinute >= this.#expiredTo + 60)) return;
    this.#expiredTo = fromMinute;
    expire(this.#facets, fromMinute);
    expire(this.#totals, fromMinute);
  }

  addStage(startMs: number, series: Series, { stage, bands }: StageSummary): void {
    if (stage !== totalStage) return;
    const minute = Math.floor(startMs / minuteMs);
    pushTo(this.#totals, seriesKey(series), { minute, ...bands });
  }

  /** Drivers of the windows that an event covers. */
  of(event: AnomalyEvent): FoundDrivers {
    if (!hasDrivers(event)) return noDrivers;
    const { model, version } = event;
    const { now, baseline } = driverMinutes(event, measuredRange(event, this.#windowMs));
    const of = baselineValues(event);
    const facets = new Map<string, FacetBands & { now: Amounts; baseline: Amounts }>();
    const count = (side: 'now' | 'baseline', range: MinuteRange, versions: readonly string[]) => {
      for (const each of this.#facetsOf(model, versions)) {
        if (!isIn(range, each)) continue;
        const { facet, value } = each;
        const key = groupKey(facet, value);
        const known = facets.get(key) ?? { facet, value, now: new Map(), baseline: new Map() };
        facets.set(key, known);
        add(known[side], each);
      }
    };
    count('now', now, [version]);
    count('baseline', baseline, of.version);
    return foundDrivers([...facets.values()], this.#bandsOf(event, now, baseline), event);
  }

  /** All series of the model: those of the event's version now, those of its baseline's versions before. */
  #bandsOf(event: AnomalyEvent, now: MinuteRange, baseline: MinuteRange): SeriesBands[] {
    const versions = baselineValues(event).version;
    return [...this.#totals].flatMap(([key, minutes]) => {
      const series = seriesOfKey(key);
      if (series.model !== event.model) return [];
      const isNow = ['', series.version].includes(event.version);
      const isBaseline = event.version === '' || versions.includes(series.version);
      return {
        series,
        now: isNow ? amountsIn(minutes, now) : new Map(),
        baseline: isBaseline ? amountsIn(minutes, baseline) : new Map(),
      };
    });
  }

  /** Facets of a model's versions: of all of them if the anomaly names none. */
  #facetsOf(model: string, versions: readonly string[]): FacetMinute[] {
    const isOfAll = versions.includes('');
    const keys = new Set(versions.map((version) => groupKey(model, version)));
    const groups = [...this.#facets].filter(([key]) =>
      isOfAll ? key.startsWith(groupKey(model, '')) : keys.has(key),
    );
    return groups.flatMap(([, minutes]) => minutes);
  }
}

function groupKey(first: string, second: string): string {
  return `${first}\n${second}`;
}

/** Requests of a range of minutes by band. */
function amountsIn(minutes: readonly MinuteBands[], range: MinuteRange): Amounts {
  const amounts: Amounts = new Map();
  for (const each of minutes) if (isIn(range, each)) add(amounts, each);
  return amounts;
}

export function pushTo<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

function expire<T extends MinuteBands>(lists: Map<string, T[]>, fromMinute: number): void {
  for (const [key, list] of lists) {
    const kept = list.filter(({ minute }) => minute >= fromMinute);
    if (kept.length === 0) lists.delete(key);
    else lists.set(key, kept);
  }
}

function isIn({ from, to }: MinuteRange, { minute }: MinuteBands): boolean {
  return minute >= from && minute < to;
}

function add(to: Amounts, { bands, amounts }: MinuteBands): void {
  for (let i = 0; i < bands.length; i++) {
    const band = bands[i] as number;
    to.set(band, (to.get(band) ?? 0) + (amounts[i] as number));
  }
}
