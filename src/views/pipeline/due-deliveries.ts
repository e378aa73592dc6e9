import { cleanText } from '../../alert/message/clean-text.ts';
import { dueNow } from '../../alert/outbox/due-now.ts';
import type { Route } from '../../alert/routing/route.ts';
import { DeliveryStore, type StoredEvent } from '../../sink/anomalies/delivery-store.ts';
import { MuteStore } from '../../sink/anomalies/mute-store.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import type { PipelineAnswer } from '../answers/pipeline.ts';
import { viewRows } from '../view-rows.ts';

interface DueQuestion {
  readonly nowMs: number;
  readonly routes: readonly Route[];
  readonly giveUpAfterMs: number;
}

type ReceiverRow = Record<'receiver' | 'last_outcome' | 'last_answer', string> & {
  readonly accepted_ms: string | number;
};

/** Beyond `alert.give_up_after` an outbox reads resolved anomalies for another hour. */
const slackMs = 3_600_000;
const answerChars = 300;

/** Deliveries due at each receiver, by the same rules as the outbox, and the outcome of its last attempt. */
export async function dueDeliveries(
  client: ClickHouseClient,
  { nowMs, routes, giveUpAfterMs }: DueQuestion,
): Promise<PipelineAnswer['deliveries']> {
  if (routes.length === 0) return [];
  const receivers = routes.map(({ receiver }) => receiver.name);
  const sinceMs = Math.max(0, Math.round(nowMs - giveUpAfterMs - slackMs));
  const [state, mutes, { rows }] = await Promise.all([
    new DeliveryStore(client).peek(receivers, sinceMs),
    new MuteStore(client).endingAfter(nowMs),
    viewRows<ReceiverRow>(client, 'view_receivers', { receivers }),
  ]);
  const anomalies = new Map<string, StoredEvent[]>();
  for (const stored of state.events) {
    const events = anomalies.get(stored.event.id) ?? [];
    anomalies.set(stored.event.id, events);
    events.push(stored);
  }
  const settledOf = new Map(state.settled.map((each) => [`${each.receiver}\n${each.id}`, each]));
  return routes.map((route) => {
    const { name } = route.receiver;
    const registeredMs = state.sinceMs.get(name);
    const dueMs = [...anomalies].flatMap(([id, events]) => {
      const settled = settledOf.get(`${name}\n${id}`);
      const found = dueNow(route, { events, settled, given: [], registeredMs, mutes, nowMs });
      return found.notices.map(() => dueSinceMs(events, settled?.settledRevision));
    });
    const row = rows.find(({ receiver }) => receiver === name);
    const acceptedMs = Number(row?.accepted_ms ?? 0);
    return {
      receiver: name,
      due: dueMs.length,
      oldest_due_seconds:
        dueMs.length === 0 ? null : Math.max(0, nowMs - Math.min(...dueMs)) / 1000,
      last_accepted_at: acceptedMs > 0 ? new Date(acceptedMs).toISOString() : null,
      last_answer: row === undefined ? '' : answerText(row),
    };
  });
}

/** When the first revision after the settled one was written, as the outbox counts: a newer one replaces it. */
function dueSinceMs(events: readonly StoredEvent[], settled = 0): number {
  return events.find(({ event }) => event.revision > settled)?.writtenMs ?? 0;
}

/** "accepted: ok", "failed: time-out". */
function answerText({ last_outcome, last_answer }: ReceiverRow): string {
  return cleanText(
    last_answer === '' ? last_outcome : `${last_outcome}: ${last_answer}`,
    answerChars,
  );
}
