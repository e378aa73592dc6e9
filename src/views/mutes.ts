import { cleanText } from '../alert/message/clean-text.ts';
import { isoOf } from '../base/time.ts';
import { type Mute, muteOfRow, type MuteRow as StoredMute } from '../sink/anomalies/mute-store.ts';
import type { ClickHouseClient } from '../sink/client/clickhouse.ts';
import type { MuteRow, MutesAnswer } from './answers/mutes.ts';
import { viewRows } from './view-rows.ts';

const textChars = 500;

/** Mutes that held after a time, hold or will hold, with who added and who ended them. */
export async function mutesView(
  client: ClickHouseClient,
  { fromMs, nowMs, limit }: { fromMs: number; nowMs: number; limit: number },
): Promise<MutesAnswer> {
  const { rows, sql } = await viewRows<StoredMute>(client, 'mutes', { afterMs: fromMs, limit });
  return { rows: rows.map((row) => rowOf(muteOfRow(row), nowMs)), sql };
}

function rowOf(mute: Mute, nowMs: number): MuteRow {
  const { id, fromMs, untilMs, models, kinds, dimensions, why, who, onBehalfOf, endedBy } = mute;
  const clean = (text: string) => cleanText(text, textChars);
  return {
    ...{ id, models: [...models], kinds: [...kinds], dimensions: { ...dimensions } },
    state: untilMs <= nowMs ? 'over' : fromMs > nowMs ? 'later' : 'holds',
    from: isoOf(fromMs),
    until: isoOf(untilMs),
    planned_until: isoOf(mute.plannedUntilMs),
    ...{ why: clean(why), who: clean(who) },
    on_behalf_of: onBehalfOf === undefined ? null : clean(onBehalfOf),
    added_at: isoOf(mute.addedMs),
    ended_at: isoOf(mute.endedMs),
    ended_by: endedBy === undefined ? null : clean(endedBy),
  };
}
