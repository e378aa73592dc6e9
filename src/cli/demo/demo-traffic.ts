import { systemClock } from '../../base/clock.ts';
import { minuteMs, secondMs } from '../../base/time.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type { Fault } from '../../generate/fault.ts';
import {
  type PublishedEvent,
  publishedTraffic,
  timedLines,
} from '../../generate/publish/published-traffic.ts';
import { sendPaced } from '../../generate/publish/send-paced.ts';
import type { OutgoingMessage } from '../../kafka/client/publisher.ts';

/** Phases of the demo: lengths in event time. */
export const plot = {
  seed: 'demo',
  ratePerSecond: 250,
  /** Past for the baseline, sent as fast as possible. */
  historyMs: 25 * minuteMs,
  calmMs: 20 * secondMs,
  faultMs: 80 * secondMs,
  /** At most; it ends when everything is resolved. With a fault that stays: after Enter. */
  recoveryMs: 300 * secondMs,
  /** Clear windows that resolve an anomaly. This traffic does not flap, so nobody has to wait for the default. */
  resolveWindows: 3,
  /** Event time per wall time once the history is sent. */
  speed: 4,
  model: 'ranker',
  stage: 'features',
  region: 'eu-west-1',
  /** Factor of the stage, and the affected part of the requests. */
  factor: 8,
  share: 0.3,
} as const;

/** Typical length of the recovery, for which the clock is planned. */
const TYPICAL_RECOVERY_MS = 90 * secondMs;

/** Times of the phases, milliseconds since the epoch. */
export interface Timeline {
  readonly startMs: number;
  readonly liveMs: number;
  readonly faultFromMs: number;
  readonly faultToMs: number;
  readonly endMs: number;
}

/**
 * Plans the phases so that their typical end meets the wall clock when they have been played. They start on a
 * whole minute, so the windows are the same in every run.
 */
export function timelineOf(nowMs: number): Timeline {
  const liveLengthMs = plot.calmMs + plot.faultMs + TYPICAL_RECOVERY_MS;
  const endMs = nowMs + liveLengthMs / plot.speed;
  const startMs = Math.floor((endMs - liveLengthMs - plot.historyMs) / minuteMs) * minuteMs;
  const liveMs = startMs + plot.historyMs;
  const faultFromMs = liveMs + plot.calmMs;
  const faultToMs = faultFromMs + plot.faultMs;
  return { startMs, liveMs, faultFromMs, faultToMs, endMs: faultToMs + plot.recoveryMs };
}

/**
 * Says what is slow and from when, in the time that anomalies have: traffic is not at the time of the clock that
 * lines begin with.
 */
export function injectionText({ faultFromMs }: Pick<Timeline, 'faultFromMs'>): string {
  const { stage, model, region, factor, share } = plot;
  const from = new Date(faultFromMs).toISOString().slice(11, 19);
  return (
    `regression injected: ${stage} of ${model} in ${region} takes ${factor} times as long, ` +
    `in ${share * 100} % of the requests (from ${from} in event time)`
  );
}

/** Settings of all traffic of the demo. */
const common = { ratePerSecond: plot.ratePerSecond, dailySwing: 0 } as const;

/** Events in the order in which they are published. */
export class DemoEvents {
  readonly #events: Iterator<PublishedEvent, void>;
  #next: PublishedEvent | undefined;

  private constructor(events: Iterator<PublishedEvent, void>) {
    this.#events = events;
  }

  /** Events of the phases. @param stays whether the fault lasts until it is removed */
  static ofPlot(timeline: Timeline, stays: boolean): DemoEvents {
    const fault: Fault = {
      kind: 'slow_stage',
      stage: plot.stage,
      model: plot.model,
      region: plot.region,
      factor: plot.factor,
      share: plot.share,
      fromMs: timeline.faultFromMs - timeline.startMs,
      forMs: stays ? Number.POSITIVE_INFINITY : plot.faultMs,
    };
    return new DemoEvents(
      publishedTraffic({
        ...common,
        seed: plot.seed,
        startMs: timeline.startMs,
        durationMs: stays ? Number.POSITIVE_INFINITY : timeline.endMs - timeline.startMs,
        faults: [fault],
      }),
    );
  }

  /** Events without a fault, without an end. */
  static withoutFault(seed: string, startMs: number): DemoEvents {
    const durationMs = Number.POSITIVE_INFINITY;
    return new DemoEvents(publishedTraffic({ ...common, seed, startMs, durationMs }));
  }

  /** Yields events published before a time; the next call continues there. */
  *until(endMs: number): Generator<PublishedEvent, void> {
    for (;;) {
      this.#next ??= this.#events.next().value ?? undefined;
      if (this.#next === undefined || this.#next.dueMs >= endMs) return;
      const event = this.#next;
      this.#next = undefined;
      yield event;
    }
  }
}

/** Sends events at a speed or as fast as possible; calls back with the number of sent ones. */
export async function sendEvents(
  events: Iterable<PublishedEvent>,
  send: SendMessages,
  pace: { readonly speed: number; readonly eventMs: number | undefined },
  signal: AbortSignal,
  onSent: (events: number) => void = () => undefined,
): Promise<number> {
  const sent = await sendPaced({
    lines: timedLines(events),
    send,
    perMessage: 20,
    pace: { ...pace, wallMs: Date.now() },
    clock: systemClock,
    signal,
    onSent: ({ lines }) => onSent(lines),
  });
  return sent.lines;
}

type SendMessages = (messages: readonly OutgoingMessage[]) => Promise<void>;

/**
 * Sends events from `fromMs` of event time on, until the signal: at the demo's speed until event time has caught up
 * with the clock, then in real time.
 *
 * @returns the number of sent ones, and the event time that was reached
 */
export async function sendLive(
  events: DemoEvents,
  send: SendMessages,
  { fromMs, toMs = Number.POSITIVE_INFINITY }: { readonly fromMs: number; readonly toMs?: number },
  signal: AbortSignal,
): Promise<{ readonly sent: number; readonly reachedMs: number }> {
  const beganMs = Date.now();
  const caughtUpMs = fromMs + (Math.max(0, beganMs - fromMs) * plot.speed) / (plot.speed - 1);
  const fast = { speed: plot.speed, eventMs: fromMs };
  const firstMs = Math.min(toMs, caughtUpMs);
  let sent = await sendEvents(events.until(firstMs), send, fast, signal);
  if (!signal.aborted && firstMs < toMs) {
    const pace = { speed: 1, eventMs: caughtUpMs };
    sent += await sendEvents(events.until(toMs), send, pace, signal);
  }
  const nowMs = Date.now();
  return { sent, reachedMs: Math.min(nowMs, fromMs + (nowMs - beganMs) * plot.speed, toMs) };
}

type Found = Pick<AnomalyEvent, 'id' | 'model' | 'region' | 'stage' | 'state'>;

/**
 * Compares the last event of each anomaly with the injected regression.
 *
 * @param otherEvents events that others sent: what is not of the regression may be of these
 * @returns the differences, a sentence each; empty when the regression alone was found, with the right stage,
 * and resolved
 */
export function demoVerdict(anomalies: readonly Found[], otherEvents = 0): string[] {
  const own = otherEvents === 0 ? anomalies : anomalies.filter(isOfRegression(anomalies));
  if (own.length === 0) return ['the regression was not found'];
  return own.flatMap(({ id, model, region, stage, state }) => {
    const problems: string[] = [];
    if (!isInPlace({ model, region })) {
      problems.push(`${id} is a false positive: ${model} in ${region} had no fault`);
    } else if (stage !== plot.stage) {
      problems.push(`${id} blames ${stage}, not ${plot.stage}`);
    }
    if (state !== 'resolved') problems.push(`${id} was not resolved`);
    return problems;
  });
}

/** Anomalies found in events that others sent: those that are not of the regression. */
export function othersFound(anomalies: readonly Found[], otherEvents: number): string[] {
  if (otherEvents === 0) return [];
  const isOwn = isOfRegression(anomalies);
  return anomalies
    .filter((anomaly) => !isOwn(anomaly))
    .map(({ id, model, region, stage }) => `${id}: ${stage} of ${model} in ${region}`);
}

/** Tells the anomalies of the regression: in its place and stage, or in its place where none has the stage. */
export function isOfRegression(anomalies: readonly Found[]): (anomaly: Found) => boolean {
  const isBlamed = (anomaly: Found) => isInPlace(anomaly) && anomaly.stage === plot.stage;
  return anomalies.some(isBlamed) ? isBlamed : isInPlace;
}

function isInPlace({ model, region }: Pick<Found, 'model' | 'region'>): boolean {
  return model === plot.model && region === plot.region;
}
