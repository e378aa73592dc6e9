import { minuteMs } from '../../../src/base/time.ts';
import { Random } from '../../../src/generate/random.ts';
import { packed } from '../kit/packed.ts';
import type { Rig } from '../kit/rig.ts';
import type { RawRequest } from './composition-of.ts';

/** A name that is text, whatever it holds. */
export const hostileModel = `a'b"\\c\`{model:String}<script>\n\u202e -- /*`;

export interface SentRequest extends RawRequest {
  readonly model: string;
  readonly version: string;
  readonly requestType: string;
  readonly region: string;
  readonly cold: boolean;
  readonly status: string;
  readonly traceId: string;
  readonly outputTokens?: number;
}

interface Traffic {
  readonly name: string;
  readonly model: string;
  readonly version: string;
  readonly fromMs: number;
  readonly requests: number;
  readonly minutes: number;
  readonly queueFactor?: number;
  readonly cold?: boolean;
  /** Every n-th request is of type `rank`, and takes so many times as long to forward. */
  readonly rank?: { readonly every: number; readonly factor: number };
}

/** Requests that end evenly over some minutes. One in three has a stage of its own; some time is in no stage. */
export function trafficOf(of: Traffic): SentRequest[] {
  const { name, model, version, fromMs, requests, minutes, queueFactor = 1, cold = false } = of;
  const { rank = { every: 4, factor: 1 } } = of;
  const random = new Random(`views ${name}`);
  return Array.from({ length: requests }, (_, n) => {
    const ms = (value: number) => Math.round(value * 1000) / 1000;
    const queue = ms(random.lognormal(8, 0.9) * queueFactor);
    const isRank = n % rank.every === 0;
    const forward = ms(random.lognormal(20, 0.2) * (isRank ? rank.factor : 1));
    const features = n % 3 === 0 ? ms(random.lognormal(4, 0.6)) : undefined;
    const rest = ms(random.lognormal(1, 0.3));
    const totalMs = ms(queue + forward + (features ?? 0) + rest);
    return {
      ...{ model, version, cold, totalMs },
      endMs: fromMs + Math.floor(((n + 0.5) * minutes * minuteMs) / requests),
      requestType: isRank ? 'rank' : 'search',
      region: n % 5 === 0 ? 'us-east-1' : 'eu-west-1',
      status: n % 100 === 0 ? 'error' : n % 100 === 1 ? 'timeout' : 'ok',
      traceId: `trace/${n}?`,
      stages: { queue, forward, ...(features === undefined ? {} : { features }) },
    };
  });
}

/** Publishes requests in the order in which they ended, and stores them. */
export async function store(rig: Rig, sent: readonly SentRequest[]): Promise<void> {
  const ordered = sent.toSorted((a, b) => a.endMs - b.endMs);
  await rig.publish(
    packed(
      ordered.map((request) => ({
        // The end is a whole millisecond, and within its window.
        ts: Math.floor(request.endMs - request.totalMs),
        ...{ model: request.model, version: request.version, region: request.region },
        request_type: request.requestType,
        ...{ cold_start: request.cold, status: request.status, host: 'h1' },
        trace_id: request.traceId,
        total_ms: request.totalMs,
        stages_ms: request.stages,
        output_tokens: request.outputTokens,
      })),
    ),
  );
  const pipeline = await rig.start(['ingest']);
  await rig.untilConsumed(ordered.length);
  await pipeline.stop();
}

/** Runs a pasted query; numbers of 64 bits become numbers. */
export async function paste<Row extends object>(rig: Rig, sql: string): Promise<Row[]> {
  const rows = await rig.rows<Record<string, unknown>>(sql);
  const numbers = (value: unknown) =>
    typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return rows.map(
    (row) =>
      Object.fromEntries(Object.entries(row).map(([key, value]) => [key, numbers(value)])) as Row,
  );
}

/** Expects a number within a part of another one. */
export function isWithin(part: number, actual: number, expected: number): boolean {
  return Math.abs(actual - expected) <= part * Math.abs(expected) + 1e-9;
}
