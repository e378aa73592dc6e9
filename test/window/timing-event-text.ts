import type { Status } from '../../src/base/statuses.ts';

/** A timing event as a producer writes it; absent fields are left out of the JSON. */
export interface TimingEventText {
  ts: number;
  model: string;
  version?: string;
  request_type?: string;
  region?: string;
  service?: string;
  host?: string;
  tenant?: string;
  id?: string;
  trace_id?: string;
  status?: Status;
  cold_start?: boolean;
  cache_hit?: boolean;
  partial?: boolean;
  batch_size?: number;
  request_bytes?: number;
  input_tokens?: number;
  concurrency?: number;
  weight?: number;
  total_ms?: number;
  stages_ms?: Record<string, number>;
  itl_ms?: number[];
}
