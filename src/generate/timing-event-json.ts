import type { Status } from '../base/statuses.ts';

/**
 * One timing event as producers send it (JSON v1), its keys in the order in which `JSON.stringify` writes them.
 * Durations are milliseconds with at most three decimals.
 */
export interface TimingEventJson {
  /** Start of the request, milliseconds since the Unix epoch. */
  readonly ts: number;
  readonly model: string;
  readonly version: string;
  readonly request_type: string;
  readonly region: string;
  readonly service: string;
  readonly host: string;
  readonly id: string;
  /** 32 hexadecimal digits. */
  readonly trace_id: string;
  readonly status: Status;
  readonly cold_start: boolean;
  /** Absent where the model has no cache. */
  readonly cache_hit?: boolean;
  readonly batch_size: number;
  readonly request_bytes: number;
  readonly response_bytes: number;
  /** Absent where the model counts no tokens. */
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  /** Requests on the host when this one arrived, including it. */
  readonly concurrency: number;
  /** Requests that waited on the host when this one arrived. */
  readonly queue_depth: number;
  /** Exactly the sum of `stages_ms`. */
  readonly total_ms: number;
  readonly stages_ms: Readonly<Record<string, number>>;
}

/** Builds the message key of an event's source, so events of one host and model keep their order. */
export function sourceKey(model: string, host: string): string {
  return `${model}|${host}`;
}
