import { hourMs, minuteMs } from '../../../src/base/time.ts';
import { configSchema } from '../../../src/config/schema.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { Detector } from '../../../src/detect/detector.ts';
import { Random } from '../../../src/generate/random.ts';
import { CompletedWindows, ofAllVersions, type VersionDurations } from '../completed-windows.ts';
import { drawWindow } from '../draw-window.ts';
import { pagesPerWeek } from '../judge-series.ts';
import { type NullFamily, nullFamilies, windowMs, windowsPerDay } from '../null-families.ts';
import { WindowMaker } from '../window-maker.ts';
import { calm, driftCases, driftFromWindow, faultOf } from './drift-cases.ts';

/** A series of a family, for some days; `name` is its case. */
export interface DriftOrder {
  readonly family: string;
  readonly seed: number;
  readonly days: number;
  readonly name: string;
}

export interface DriftOutcome extends DriftOrder {
  /** Hours from the start until each drift opened, below 0 before it. */
  readonly emittedAfterHours: readonly number[];
  readonly resolutions: readonly string[];
  /** True where the first one blames the right stage. */
  readonly isBlamed: boolean | undefined;
  /** Its ratio when it opened. */
  readonly ratio: number | undefined;
  /** Shifts of the tail that opened meanwhile. */
  readonly tailShifts: number;
}

const startMs = Date.UTC(2026, 10, 2);
/** Windows of a minute are evaluated: three weeks of ten-second windows would be slow. */
const perMinute = minuteMs / windowMs;

/** Runs one series through the detector, with all of its tests. The same order gives the same outcome. */
export function runDrift(order: DriftOrder): DriftOutcome {
  const family = nullFamilies.find(({ name }) => name === order.family) as NullFamily;
  const random = new Random(`${order.family} ${order.seed} drift`);
  const model = family.model(random);
  const draws = random.split('requests');
  const settings = { page_budget_per_week: pagesPerWeek, window: '1m' };
  const { detect } = configSchema.parse({ detect: settings });
  const detector = new Detector(detect);
  const completed = new CompletedWindows(windowMs, random.split('offsets'));
  const maker = new WindowMaker(minuteMs);
  const drift = driftCases.find(({ name }) => name === order.name) ?? calm;
  const fault = faultOf(drift);
  const emitted: AnomalyEvent[] = [];
  for (let from = 0; from < order.days * windowsPerDay; from += perMinute) {
    const release = Math.max(0, Math.ceil((from - driftFromWindow) / windowsPerDay));
    const ended: VersionDurations[] = [];
    for (let window = from; window < from + perMinute; window++) {
      const moment = model.momentAt(window);
      draws.seek(window, 0);
      const version = drift.isReleased === true ? `r${release}` : moment.version;
      const started = { version, durations: drawWindow(moment, window, fault, draws) };
      ended.push(...completed.complete(window, [started]));
    }
    const minuteStartMs = startMs + from * windowMs;
    const versions = [...new Set(ended.map(({ version }) => version))];
    const present = versions.flatMap((version) => {
      const own = ended.filter((each) => each.version === version);
      return maker.make(minuteStartMs, version, ofAllVersions(own));
    });
    emitted.push(...detector.observe(present, minuteStartMs + minuteMs + 2_000, minuteStartMs));
  }
  return { ...order, ...outcomeOf(emitted) };
}

function outcomeOf(emitted: readonly AnomalyEvent[]) {
  const isOpened = ({ state }: AnomalyEvent) => state === 'opened';
  const drifts = emitted.filter(({ kind }) => kind === 'drift');
  const opened = drifts.filter(isOpened);
  const beganMs = startMs + driftFromWindow * windowMs;
  const [first] = opened;
  return {
    emittedAfterHours: opened.map(
      ({ detected_at }) => (Date.parse(detected_at) - beganMs) / hourMs,
    ),
    resolutions: drifts.flatMap(({ resolution }) => resolution ?? []),
    isBlamed: first && first.stage === 'forward',
    ratio: first?.ratio,
    tailShifts: emitted.filter((event) => isOpened(event) && event.kind === 'tail_shift').length,
  };
}
