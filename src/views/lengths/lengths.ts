import { daySeconds } from '../../base/time.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { resolutions, windowSeconds } from '../../sink/windows/read-tails.ts';
import type { LengthsAnswer } from '../answers/lengths.ts';
import { answeredRange, isoTime, type Question } from '../question.ts';
import { type Retention, type TimeRange, wholeWindows } from '../time-range.ts';
import { unknownNames } from '../unknown-name.ts';
import { type Earlier, readAtLengths } from './at-lengths.ts';

export interface LengthsQuestion extends Question {
  readonly quantiles: readonly number[];
  readonly earlier: readonly Earlier[];
}

/**
 * Quantiles of a model with answers as long as a week earlier. Cost: `readAtLengths`.
 *
 * @throws UnknownName
 */
export async function lengthsView(
  client: ClickHouseClient,
  { range, filters, quantiles, earlier: times }: LengthsQuestion,
): Promise<LengthsAnswer> {
  const { earlier, rows } = await readAtLengths(client, {
    ...{ filters, range, quantiles, earlier: times },
  });
  const isEmpty = rows.some(({ reason }) => reason === 'no_lengths');
  const unknown = isEmpty ? await unknownNames(client, filters) : {};
  return {
    range: answeredRange(range, false),
    earlier: earlierAnswer(earlier),
    rows: [...rows],
    ...unknown,
  };
}

export function earlierAnswer(earlier: Earlier | undefined): LengthsAnswer['earlier'] {
  if (earlier === undefined) return null;
  const { fromSeconds, toSeconds } = earlier.range;
  return { from: isoTime(fromSeconds), to: isoTime(toSeconds) };
}

/** Of the days whose same time is the baseline of a model: the one of the same weekday, else the latest. */
const days = [
  [7, 'a week earlier'],
  [1, 'a day earlier'],
] as const;

/** The same time a week earlier and a day earlier, as far as it lies before the range and is stored. */
export function sameTimeEarlier(
  { fromSeconds, toSeconds, resolution }: TimeRange,
  {
    nowMs,
    firstMs = nowMs,
    retention,
  }: {
    readonly nowMs: number;
    readonly firstMs: number | undefined;
    readonly retention: Retention;
  },
): Earlier[] {
  return days.flatMap(([count, name]) => {
    const shift = count * daySeconds;
    const from = fromSeconds - shift;
    if (toSeconds - shift > fromSeconds || from * 1000 < firstMs) return [];
    const kept = resolutions.find(
      (each) =>
        windowSeconds[each] >= windowSeconds[resolution] && nowMs - retention[each] <= from * 1000,
    );
    const range = wholeWindows(from, toSeconds - shift, kept ?? '1d');
    return [{ name, range }];
  });
}
