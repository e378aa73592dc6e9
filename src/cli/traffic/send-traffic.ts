import type { Clock } from '../../base/clock.ts';
import { type ExitCode, exitCodes } from '../../base/exit-codes.ts';
import {
  type Pace,
  type SendPacedOptions,
  type Sent,
  sendPaced,
} from '../../generate/publish/send-paced.ts';
import type { Io } from '../io.ts';
import { createProgress } from '../text/progress.ts';
import type { OpenKafka, TrafficTarget } from './traffic-target.ts';

export interface TrafficCommandParts {
  readonly openKafka: OpenKafka;
  /** @default {systemClock} */
  readonly clock?: Pick<Clock, 'nowMs' | 'sleep'>;
}

/** Messages to send, and what is shown of them. */
export interface Traffic extends Pick<SendPacedOptions, 'lines' | 'perMessage'> {
  /** Verb of the progress, "Generating", and of the report, "Generated". */
  readonly verbs: readonly [doing: string, did: string];
  /** Sending starts at `wallMs`. @default {now} */
  readonly pace: Omit<Pace, 'wallMs'> & Partial<Pace>;
  /** Progress at the end; undefined or infinite if unknown. */
  readonly total: number | undefined;
  /** Progress after some lines. */
  reached(lastDueMs: number | undefined): number;
  /** Fields of the JSON report, in snake_case. */
  extra(): Readonly<Record<string, unknown>>;
  /** Additional sentence of the report for people. */
  note?(): string;
}

export interface SendTrafficOptions {
  readonly target: TrafficTarget;
  readonly clock: Pick<Clock, 'nowMs' | 'sleep'>;
  readonly json: boolean;
  /** Destination of JSON: standard error if standard output has the events. */
  readonly print: (text: string) => void;
}

/**
 * Sends traffic to a target, closes the target, and reports what was sent: one line of JSON, or one for people
 * on standard error. The target is closed as well when `prepare` or the sending fails.
 */
export async function sendTraffic(
  prepare: () => Promise<Traffic>,
  { target, clock, json, print }: SendTrafficOptions,
  io: Io,
): Promise<ExitCode> {
  let finish = () => {};
  let sentCount = 0;
  try {
    const traffic = await prepare();
    const { verbs, total, lines, perMessage } = traffic;
    const beganMs = clock.nowMs();
    const progress = createProgress(io, { label: verbs[0], total, clock });
    finish = () => progress.finish();
    const show = (reached: number) => progress.update(reached, `${count(sentCount)} events`);
    show(traffic.reached(undefined));
    const sent = await sendPaced({
      lines,
      perMessage,
      send: (messages) => target.send(messages),
      pace: { wallMs: beganMs, ...traffic.pace },
      clock,
      signal: io.signal,
      onSent: ({ lines, lastDueMs }) => {
        sentCount = lines;
        show(traffic.reached(lastDueMs));
      },
    });
    await target.close();
    const interrupted = io.signal.aborted;
    if (!interrupted) show(total ?? 0);
    finish();
    const report = { sent, elapsedMs: clock.nowMs() - beganMs, target: target.name, interrupted };
    if (json) print(`${JSON.stringify(reportJson(report, traffic))}\n`);
    else io.err(`${reportText(report, traffic)}\n`);
    return exitCodes.ok;
  } catch (error) {
    finish();
    if (sentCount > 0) io.err(`${sentCount} events were sent before this failed.\n`);
    await target.close().catch(() => undefined);
    throw error;
  }
}

interface Report {
  readonly sent: Sent;
  readonly elapsedMs: number;
  readonly target: string;
  readonly interrupted: boolean;
}

function reportJson({ sent, elapsedMs, target, interrupted }: Report, { extra }: Traffic) {
  return {
    ok: true,
    events: sent.lines,
    messages: sent.messages,
    bytes: sent.bytes,
    elapsed_ms: elapsedMs,
    events_per_second: perSecond(sent, elapsedMs),
    last_ts: sent.lastDueMs ?? null,
    target,
    interrupted,
    ...extra(),
  };
}

function reportText(report: Report, { verbs, note = () => '' }: Traffic): string {
  const { sent, elapsedMs, target, interrupted } = report;
  const amount = `${count(sent.lines)} events in ${count(sent.messages)} messages`;
  const speed = `${(elapsedMs / 1_000).toFixed(1)} s, ${count(perSecond(sent, elapsedMs))} events/s`;
  const stopped = interrupted ? ' Interrupted: this is what was sent before.' : '';
  const more = note();
  return `${verbs[1]} ${amount} to ${target} (${speed}).${stopped}${more && ` ${more}`}`;
}

function perSecond({ lines }: Sent, elapsedMs: number): number {
  return elapsedMs <= 0 ? 0 : Math.round((lines / elapsedMs) * 1_000);
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}
