import { MemoryWindows } from '../../../src/backtest/memory-windows.ts';
import { weekMs } from '../../../src/base/time.ts';
import type { Config } from '../../../src/config/schema.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { Detector } from '../../../src/detect/detector.ts';
import { seriesKey } from '../../../src/series/series-key.ts';
import { messageOf, type RecordedEvent } from './recorded-events.ts';

export interface Replay {
  readonly events: number;
  /** The first and the last event of each anomaly. */
  readonly pages: readonly { readonly opened: AnomalyEvent; last: AnomalyEvent }[];
  /** Windows of series, those with a baseline, and the time for which their series were seen. */
  readonly seriesWindows: number;
  readonly evaluated: number;
  readonly series: number;
  readonly seriesWeeks: number;
}

const eventsPerMessage = 500;

/** Runs events through the real decoding, windows and detector, as `tailmark backtest --input` does. */
export function replayEvents(events: Iterable<RecordedEvent>, config: Config): Replay {
  const windows = new MemoryWindows(config);
  // Each series by itself: pages are counted by series and week.
  const detector = new Detector({ ...config.detect, group_by: 'series' });
  const pages = new Map<string, { opened: AnomalyEvent; last: AnomalyEvent }>();
  const seen = new Map<string, { fromMs: number; toMs: number }>();
  let seriesWindows = 0;
  let evaluated = 0;
  const evaluate = (isOver: boolean) => {
    for (const { startMs, windows: present } of windows.complete(isOver)) {
      seriesWindows += present.length;
      for (const { series, stages } of present) {
        if (![...stages.keys()].some((stage) => detector.reference(series, stage))) continue;
        evaluated++;
        const range = seen.get(seriesKey(series)) ?? { fromMs: startMs, toMs: startMs };
        range.toMs = startMs + config.detect.window;
        seen.set(seriesKey(series), range);
      }
      for (const event of detector.observe(present, startMs + config.detect.window, startMs)) {
        const page = pages.get(event.id);
        if (page === undefined) pages.set(event.id, { opened: event, last: event });
        else page.last = event;
      }
    }
  };
  let lines: string[] = [];
  const send = () => {
    windows.consume(Buffer.from(lines.join('\n')));
    lines = [];
    evaluate(false);
  };
  for (const event of events) {
    lines.push(messageOf(event));
    if (lines.length === eventsPerMessage) send();
  }
  if (lines.length > 0) send();
  evaluate(true);
  const spans = [...seen.values()].map(({ fromMs, toMs }) => toMs - fromMs);
  return {
    events: windows.counts.events - windows.counts.rejected - windows.counts.late,
    pages: [...pages.values()],
    ...{ seriesWindows, evaluated, series: seen.size },
    seriesWeeks: spans.reduce((sum, ms) => sum + ms, 0) / weekMs,
  };
}
