import type { ChaosSummary } from './chaos-summary.ts';

/** Result of an outage of ClickHouse while events kept coming. */
export interface OutageSummary
  extends Pick<ChaosSummary, 'differences' | 'compared' | 'verify' | 'drains' | 'selfExits'> {
  readonly seed: string;
  readonly outageMs: number;
  /** Events a second: the requested rate, and the actual one. */
  readonly eventsPerSecond: number;
  readonly publishedPerSecond: number;
  readonly events: number;
  /** Events published and not stored when ClickHouse came back. */
  readonly backlogEvents: number;
  /** From ClickHouse's return until the lag was normal. */
  readonly catchUpMs: number;
  /** Events stored in that time. */
  readonly catchUpEvents: number;
  /** Resident memory of the ingester over time. */
  readonly memory: readonly { readonly when: string; readonly bytes: number }[];
  readonly peakBytes: number;
}
