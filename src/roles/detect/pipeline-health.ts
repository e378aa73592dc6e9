import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { durationText } from '../../contract/format.ts';
import {
  type PipelineCause,
  type PipelineCondition,
  type PipelineEventOptions,
  pipelineCauses,
  pipelineKey,
  pipelineOpened,
  pipelineResolved,
} from '../../detect/pipeline/pipeline-event.ts';
import type { Completeness } from './completeness/completeness.ts';

/** Partitions that are named; the others are counted. */
const mostNamed = 5;

/**
 * Monitors the pipeline itself: emits one event when a problem lasts, and one when it is over. Pure:
 * completeness in, events out.
 */
export class PipelineHealth {
  readonly #options: PipelineEventOptions;
  readonly #open = new Map<PipelineCause, AnomalyEvent>();
  #conditions: readonly PipelineCondition[] = [];
  #displacedSinceMs: number | undefined;

  constructor(options: PipelineEventOptions) {
    this.#options = options;
  }

  /** Restores the open events of this group from the table. */
  restore(open: readonly AnomalyEvent[]): void {
    this.#open.clear();
    for (const cause of pipelineCauses) {
      const key = pipelineKey(cause, this.#options.groupId);
      const event = open.find(({ dedup_key }) => dedup_key === key);
      if (event !== undefined) this.#open.set(cause, event);
    }
  }

  observe(nowMs: number, completeness: Completeness): AnomalyEvent[] {
    const { afterMs } = this.#options;
    const conditions = this.#conditionsOf(nowMs, completeness);
    const lasting = conditions.filter(({ startedMs }) => nowMs - startedMs >= afterMs);
    this.#conditions = lasting;
    const events: AnomalyEvent[] = [];
    for (const cause of pipelineCauses) {
      const open = this.#open.get(cause);
      const condition = lasting.find((each) => each.cause === cause);
      const isOver = !conditions.some((each) => each.cause === cause);
      if (open === undefined && condition !== undefined) {
        const opened = pipelineOpened(condition, nowMs, this.#options);
        this.#open.set(cause, opened);
        events.push(opened);
      } else if (open !== undefined && isOver) {
        this.#open.delete(cause);
        const lastedMs = nowMs - Date.parse(open.started_at);
        events.push(pipelineResolved(open, nowMs, overSummary(cause, lastedMs)));
      }
    }
    return events;
  }

  problems(): string[] {
    return this.#summaries((cause) => cause !== 'event_time');
  }

  notes(): string[] {
    return this.#summaries((cause) => cause === 'event_time');
  }

  #summaries(isWanted: (cause: PipelineCause) => boolean): string[] {
    return this.#conditions
      .filter(({ cause }) => isWanted(cause))
      .map(({ summary }) => `detect: ${summary}`);
  }

  #conditionsOf(nowMs: number, completeness: Completeness): PipelineCondition[] {
    const { behind, displaced, kafkaOutage, storeOutage } = completeness;
    const conditions: PipelineCondition[] = [];
    const lagMessages = behind.reduce((sum, partition) => sum + partition.lagMessages, 0);
    const behindMs = Math.max(
      behind[0]?.behindMs ?? 0,
      storeOutage === undefined ? 0 : nowMs - storeOutage.sinceMs,
    );
    if (behindMs > 0) {
      const summary = behindSummary(completeness, behindMs, lagMessages);
      const startedMs = nowMs - behindMs;
      conditions.push({ cause: 'behind', behindMs, startedMs, lagMessages, summary });
    }
    if (kafkaOutage !== undefined) {
      const { sinceMs, reason } = kafkaOutage;
      const lastedMs = nowMs - sinceMs;
      const summary = `Kafka has not responded for ${durationText(lastedMs)} (${reason}); traffic volume is not evaluated`;
      const timing = { behindMs: lastedMs, startedMs: sinceMs };
      conditions.push({ cause: 'kafka', ...timing, lagMessages: 0, summary });
    }
    this.#displacedSinceMs = displaced.length === 0 ? undefined : (this.#displacedSinceMs ?? nowMs);
    if (this.#displacedSinceMs !== undefined) {
      const delayMs = Math.max(...displaced.map((partition) => partition.delayMs));
      const names = named(displaced.map(({ name }) => name));
      const summary = `Events of ${names} arrive up to ${durationText(delayMs)} after their event time; windows do not wait for them, and traffic volume is not evaluated. Check the clocks and time zones of their producers`;
      const timing = { behindMs: delayMs, startedMs: this.#displacedSinceMs };
      conditions.push({ cause: 'event_time', ...timing, lagMessages: 0, summary });
    }
    return conditions;
  }
}

function behindSummary(
  { behind, storeOutage }: Completeness,
  behindMs: number,
  lagMessages: number,
): string {
  if (storeOutage !== undefined) {
    const waiting = lagMessages === 0 ? '' : ` and ${count(lagMessages)} messages wait in Kafka`;
    return `ClickHouse has not responded for ${durationText(behindMs)} (${storeOutage.reason})${waiting}; no window is evaluated`;
  }
  const names = named(behind.map(({ name }) => name));
  const givenUp = behind.filter(({ isGivenUp }) => isGivenUp);
  const verdict =
    givenUp.length === 0
      ? 'windows wait for them'
      : `windows are evaluated without ${named(givenUp.map(({ name }) => name))}, and traffic volume is not evaluated`;
  return `${count(lagMessages)} messages wait to be stored, the oldest for ${durationText(behindMs)}; ${verdict}. Check the ingesters of ${names}`;
}

function overSummary(cause: PipelineCause, lastedMs: number): string {
  const after = `after ${durationText(lastedMs)}`;
  if (cause === 'behind') return `All messages in Kafka are stored again ${after}`;
  if (cause === 'kafka') return `Kafka responds again ${after}`;
  return `Events arrive close to their event time again ${after}`;
}

function named(names: readonly string[]): string {
  const shown = names.slice(0, mostNamed).join(', ');
  return names.length > mostNamed ? `${shown} and ${names.length - mostNamed} more` : shown;
}

function count(n: number): string {
  return n.toLocaleString('en-US');
}
