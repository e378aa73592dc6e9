import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/failure.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type { Metrics } from '../base/telemetry/metrics.ts';
import { hourMs, minuteMs } from '../base/time.ts';
import { type ClickHouseClient, errorCodeOf } from '../sink/client/clickhouse.ts';
import {
  type FoundProblems,
  type LedgerProblemKind,
  readProblems,
} from '../sink/ledger-problems.ts';

export interface LedgerWatchOptions {
  readonly client: ClickHouseClient;
  readonly groupId: string;
  readonly intervalMs: number;
  /** Time for which landings are kept (`clickhouse.retention.chunk_landings`). */
  readonly landingsMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** A check before each one of the ledger. */
  readonly checkFirst?: () => Promise<void>;
  /** A further check, after each one of the ledger. */
  readonly alsoCheck?: () => Promise<void>;
}

type Problem = FoundProblems['problems'][number];

interface Known {
  problem: Problem;
  /** Consecutive checks that found it, while it was within their range. */
  sightings: number;
}

/** The ledger is checked this far back. */
const LEDGER_MS = hourMs;
/** Chunks are compared with their rows this far back. */
const CHUNKS_MS = 600_000;
/** Rows are read from this much earlier, because they land before the ledger row. */
const LANDED_SLACK_MS = minuteMs;
/** Chunks that nobody finishes are looked for so often. */
const ABANDONED_EVERY_MS = 300_000;
/** Consecutive checks that must find a problem: replicas and clocks may lag during one. */
const SIGHTINGS = 2;
/** Limit of remembered problems; metrics still count the others while they are found. */
const MAX_KNOWN = 1_000;

const metricOf = {
  gap: 'ledgerGapOffsets',
  overlap: 'ledgerOverlapOffsets',
  conservation: 'ledgerUnaccountedEvents',
  empty_range: undefined,
  loss: 'ledgerSampleDifference',
  duplicate: 'ledgerSampleDifference',
  unrecorded: 'ledgerSampleDifference',
  abandoned: 'ledgerSampleDifference',
  counted_twice: undefined,
  // Counted as it happens, and for good: there is nothing to watch.
  removed: undefined,
  removed_unread: undefined,
} as const satisfies Record<LedgerProblemKind, keyof Metrics | undefined>;

const gauges = Object.values(metricOf).filter((name) => name !== undefined);

/**
 * Runs the checks of `tailmark verify` in the ingest role: checks the group's recent chunks at an interval.
 * Problems are exported as metrics and logged once. The cost of a check does not depend on the ledger's
 * length. A problem found by two consecutive checks stays until it is resolved, even when it leaves the
 * checked range. A pending chunk is no problem.
 */
export class LedgerWatch {
  readonly #options: LedgerWatchOptions;
  readonly #known = new Map<string, Known>();
  #cancel: (() => void) | undefined;
  #checking: Promise<void> | undefined;
  /** Time of the last search for chunks that nobody finishes. */
  #abandonedMs = Number.NEGATIVE_INFINITY;
  /** The last failure; a repeated one is not logged again. */
  #failure = '';

  constructor(options: LedgerWatchOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock, intervalMs } = this.#options;
    this.#cancel = clock.every(intervalMs, () => {
      // A check that takes longer than the interval is not interrupted.
      this.#checking ??= this.check().finally(() => {
        this.#checking = undefined;
      });
    });
  }

  /** Resolves after the current check. */
  async stop(): Promise<void> {
    this.#cancel?.();
    await this.#checking;
  }

  /** Checks once. Never rejects: failures show as an old `ledger_checked_timestamp_seconds`. */
  async check(): Promise<void> {
    const { clock, metrics } = this.#options;
    const nowMs = clock.nowMs();
    try {
      if (this.#options.checkFirst !== undefined) await this.#options.checkFirst();
      const [ledger, chunks] = await this.#read(nowMs);
      this.#compare(ledger, ['gap', 'overlap', 'conservation', 'empty_range'], nowMs - LEDGER_MS);
      this.#compare(chunks, ['loss', 'duplicate', 'unrecorded'], nowMs - CHUNKS_MS);
      const abandoned = await this.#lookForAbandoned(nowMs);
      this.#report(ledger, chunks, ...abandoned);
      await this.#options.alsoCheck?.();
      metrics.ledgerCheckedSeconds.set(nowMs / 1000);
      this.#failure = '';
    } catch (error) {
      this.#logFailure(error);
    }
  }

  #read(nowMs: number): Promise<[FoundProblems, FoundProblems]> {
    const { client, groupId } = this.#options;
    const ledgerSinceMs = nowMs - LEDGER_MS;
    const sinceMs = nowMs - CHUNKS_MS;
    return Promise.all([
      readProblems(client, 'ledger_problems', { groupId, sinceMs: ledgerSinceMs }),
      readProblems(client, 'chunk_problems', {
        groupId,
        sinceMs,
        landedSinceMs: sinceMs - LANDED_SLACK_MS,
        ledgerSinceMs,
        // It is unknown how long the rows of the first chunk have been there.
        firstsToo: false,
      }),
    ]);
  }

  /** Reads all landings that are kept, so more seldom; what it finds is older than that. */
  async #lookForAbandoned(nowMs: number): Promise<FoundProblems[]> {
    if (Math.abs(nowMs - this.#abandonedMs) < ABANDONED_EVERY_MS) return [];
    const { client, groupId, landingsMs } = this.#options;
    const found = await readProblems(client, 'abandoned_chunks', { groupId });
    this.#abandonedMs = nowMs;
    // Merges drop landings somewhat later than they expire.
    this.#compare(found, ['abandoned'], nowMs - landingsMs + Math.min(hourMs, landingsMs / 4));
    return [found];
  }

  /** Merges the findings of these kinds. A known problem is resolved when it is in range and not found. */
  #compare(found: FoundProblems, kinds: readonly LedgerProblemKind[], sinceMs: number): void {
    const seen = new Map(found.problems.map((problem) => [keyOf(problem), problem]));
    for (const [key, { problem, sightings }] of this.#known) {
      const { kind, oldestMs } = problem;
      if (!kinds.includes(kind) || seen.has(key)) continue;
      if (sightings < SIGHTINGS) {
        this.#known.delete(key);
      } else if (oldestMs >= sinceMs && !isTruncated(found, kind)) {
        this.#known.delete(key);
        this.#options.log.info(fieldsOf(problem), 'ledger problem resolved');
      }
    }
    for (const [key, problem] of seen) {
      const known = this.#known.get(key);
      if (known !== undefined) {
        known.problem = problem;
        known.sightings++;
        if (known.sightings !== SIGHTINGS) continue;
        this.#options.log.error(fieldsOf(problem), `ledger problem: ${problem.detail}`);
      } else if (this.#known.size < MAX_KNOWN) {
        this.#known.set(key, { problem, sightings: 1 });
      }
    }
  }

  #report(...results: readonly FoundProblems[]): void {
    const sums = new Map(gauges.map((name) => [name, 0]));
    for (const kind of Object.keys(metricOf) as LedgerProblemKind[]) {
      const name = metricOf[kind];
      if (name === undefined) continue;
      const seen = [...this.#known.values()].filter(
        ({ problem, sightings }) => problem.kind === kind && sightings >= SIGHTINGS,
      );
      const sum = seen.reduce((total, { problem }) => total + problem.amount, 0);
      const count = seen.length;
      // The check's own sum is larger when it found more problems than it returned.
      const inRange = results.find(({ kinds }) => kinds.has(kind))?.kinds.get(kind);
      const more = count > 0 && inRange !== undefined && inRange.found > count ? inRange.total : 0;
      sums.set(name, (sums.get(name) ?? 0) + Math.max(sum, more));
    }
    for (const [name, sum] of sums) this.#options.metrics[name].set(sum);
  }

  #logFailure(error: unknown): void {
    const code = errorCodeOf(error);
    const err = messageOf(error);
    const failure = code === '' ? err : code;
    if (failure === this.#failure) return;
    this.#failure = failure;
    this.#options.log.warn({ code, err }, 'ledger check failed');
  }
}

/** True if the query's limit hides problems, among which a known one may still exist. */
function isTruncated({ problems, kinds }: FoundProblems, kind: LedgerProblemKind): boolean {
  const returned = problems.filter((problem) => problem.kind === kind).length;
  return returned < (kinds.get(kind)?.found ?? 0);
}

/** Identity of a problem without its amount, which may grow. */
function keyOf(problem: Problem): string {
  const { kind, topic, partition, log_id, start_offset, from_offset, to_offset } = problem;
  return JSON.stringify([kind, topic, partition, log_id, start_offset, from_offset, to_offset]);
}

function fieldsOf(problem: Problem) {
  const { kind, group_id, topic, partition, log_id, from_offset, to_offset, amount } = problem;
  return { kind, group_id, topic, partition, log_id, from_offset, to_offset, amount };
}
