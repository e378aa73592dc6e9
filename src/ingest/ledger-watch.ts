import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type { Metrics } from '../base/telemetry/metrics.ts';
import { type ClickHouseClient, errorCodeOf } from '../sink/clickhouse.ts';
import type { LedgerProblemKind } from '../sink/ledger-problem.ts';
import { type FoundProblems, readProblems } from '../sink/read-problems.ts';

export interface LedgerWatchOptions {
  readonly client: ClickHouseClient;
  /** Whose chunks are looked at. */
  readonly groupId: string;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

type Problem = FoundProblems['problems'][number];

interface Known {
  problem: Problem;
  /** Looks in a row that have found it, while it could be found. */
  sightings: number;
}

/** Chunks recorded in so long are held against each other. */
const LEDGER_MS = 3_600_000;
/** Chunks recorded in so long are held against their rows. */
const CHUNKS_MS = 600_000;
/** Rows are read from so much further back: a chunk's rows come before it is recorded. */
const LANDED_SLACK_MS = 60_000;
/** Looks that must find a problem until it is one: replicas and clocks may lag behind for one. */
const SIGHTINGS = 2;
/** Problems remembered; the metrics count what is beyond, as long as it is found. */
const KNOWN_AT_MOST = 1_000;

const metricOf = {
  gap: 'ledgerGapOffsets',
  overlap: 'ledgerOverlapOffsets',
  conservation: 'ledgerUnaccountedEvents',
  empty_range: undefined,
  loss: 'ledgerSampleDifference',
  duplicate: 'ledgerSampleDifference',
  unrecorded: 'ledgerSampleDifference',
  counted_twice: undefined,
} as const satisfies Record<LedgerProblemKind, keyof Metrics | undefined>;

const gauges = [
  'ledgerGapOffsets',
  'ledgerOverlapOffsets',
  'ledgerUnaccountedEvents',
  'ledgerSampleDifference',
] as const;

/**
 * `tailmark verify` at work beside role `ingest`: looks at what the group has recorded lately, at an
 * interval, and says what is wrong as metrics, and once in the log. Each look costs the same however
 * long the ledger is. A problem that two looks in a row have found stays until it is mended, also
 * when it is older than what is looked at; a chunk in flight is none.
 */
export class LedgerWatch {
  readonly #options: LedgerWatchOptions;
  readonly #known = new Map<string, Known>();
  #cancel: (() => void) | undefined;
  #looking: Promise<void> | undefined;
  /** What the last look failed with; a look that fails like the one before is not logged again. */
  #failure = '';

  constructor(options: LedgerWatchOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock, intervalMs } = this.#options;
    this.#cancel = clock.every(intervalMs, () => {
      // A look that takes longer than the interval is let finish.
      this.#looking ??= this.check().finally(() => {
        this.#looking = undefined;
      });
    });
  }

  /** Ends after the look under way. */
  async stop(): Promise<void> {
    this.#cancel?.();
    await this.#looking;
  }

  /** One look. Never rejects: what it could not see shows as `ledger_checked_timestamp_seconds`. */
  async check(): Promise<void> {
    const { clock, metrics } = this.#options;
    const nowMs = clock.nowMs();
    try {
      const [ledger, chunks] = await this.#read(nowMs);
      this.#compare(ledger, ['gap', 'overlap', 'conservation', 'empty_range'], nowMs - LEDGER_MS);
      this.#compare(chunks, ['loss', 'duplicate', 'unrecorded'], nowMs - CHUNKS_MS);
      this.#report(ledger, chunks);
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
        // Of the first chunk it is not known how long its rows lay there.
        firstsToo: false,
      }),
    ]);
  }

  /** Takes in what a look found of these kinds, and what it would have found if it were there. */
  #compare(found: FoundProblems, kinds: readonly LedgerProblemKind[], sinceMs: number): void {
    const seen = new Map(found.problems.map((problem) => [keyOf(problem), problem]));
    for (const [key, known] of this.#known) {
      if (!kinds.includes(known.problem.kind) || seen.has(key)) continue;
      // Beyond the limit of a query, what is not brought back may still be there.
      const isCut = found.kinds.has(known.problem.kind) && this.#isCut(found, known.problem.kind);
      const isOutOfSight = known.problem.oldestMs < sinceMs;
      if (known.sightings < SIGHTINGS) this.#known.delete(key);
      else if (!isOutOfSight && !isCut) this.#resolved(key, known.problem);
    }
    for (const [key, problem] of seen) {
      const known = this.#known.get(key);
      if (known !== undefined) {
        known.problem = problem;
        known.sightings++;
        if (known.sightings === SIGHTINGS) this.#log(problem);
      } else if (this.#known.size < KNOWN_AT_MOST) {
        this.#known.set(key, { problem, sightings: 1 });
      }
    }
  }

  #isCut(found: FoundProblems, kind: LedgerProblemKind): boolean {
    const brought = found.problems.filter((problem) => problem.kind === kind).length;
    return brought < (found.kinds.get(kind)?.found ?? 0);
  }

  #resolved(key: string, problem: Problem): void {
    this.#known.delete(key);
    this.#options.log.info(fieldsOf(problem), 'ledger problem resolved');
  }

  #log(problem: Problem): void {
    this.#options.log.error(fieldsOf(problem), `ledger problem: ${problem.detail}`);
  }

  #report(...looks: readonly FoundProblems[]): void {
    const sums = new Map<(typeof gauges)[number], number>(gauges.map((name) => [name, 0]));
    for (const kind of Object.keys(metricOf) as LedgerProblemKind[]) {
      const name = metricOf[kind];
      if (name === undefined) continue;
      let sum = 0;
      let count = 0;
      for (const { problem, sightings } of this.#known.values()) {
        if (problem.kind !== kind || sightings < SIGHTINGS) continue;
        sum += problem.amount;
        count++;
      }
      // With more than a look brings back, the look's own sum says more.
      const inSight = looks.find(({ kinds }) => kinds.has(kind))?.kinds.get(kind);
      const more = count > 0 && inSight !== undefined && inSight.found > count ? inSight.total : 0;
      sums.set(name, (sums.get(name) ?? 0) + Math.max(sum, more));
    }
    for (const [name, sum] of sums) this.#options.metrics[name].set(sum);
  }

  #logFailure(error: unknown): void {
    const code = errorCodeOf(error);
    const err = error instanceof Error ? error.message : String(error);
    const failure = code === '' ? err : code;
    if (failure === this.#failure) return;
    this.#failure = failure;
    this.#options.log.warn({ code, err }, 'ledger check failed');
  }
}

/** What a problem is, not how large: it may grow while it is known. */
function keyOf(problem: Problem): string {
  const { kind, topic, partition, start_offset, from_offset, to_offset } = problem;
  return JSON.stringify([kind, topic, partition, start_offset, from_offset, to_offset]);
}

function fieldsOf(problem: Problem) {
  const { kind, group_id, topic, partition, from_offset, to_offset, amount } = problem;
  return { kind, group_id, topic, partition, from_offset, to_offset, amount };
}
