import type { ChaosSummary } from './chaos-summary.ts';

/** What came of ClickHouse being away while events kept coming. */
export interface OutageSummary
  extends Pick<ChaosSummary, 'differences' | 'compared' | 'verify' | 'drains' | 'selfExits'> {
  readonly seed: string;
  readonly outageMs: number;
  /** Events a second that were to be published, and that were. */
  readonly eventsPerSecond: number;
  readonly publishedPerSecond: number;
  readonly events: number;
  /** Events published and not stored when ClickHouse came back. */
  readonly backlogEvents: number;
  /** From ClickHouse's return until no more was waiting than usual. */
  readonly catchUpMs: number;
  /** Events stored in that time. */
  readonly catchUpEvents: number;
  /** Resident memory of the ingester in the course of time. */
  readonly memory: readonly { readonly when: string; readonly bytes: number }[];
  readonly peakBytes: number;
}
