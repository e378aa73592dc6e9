import type { Logger } from '../base/telemetry/log.ts';
import type { Metrics } from '../base/telemetry/metrics.ts';
import type { LedgerEntry } from '../sink/chunks/chunk.ts';

/**
 * | value | | why |
 * |---|---|---|
 * | span | 5 min | long enough for little traffic, short enough to show that a fix helped |
 * | bucket | 15 s | resolution of the span |
 * | warn above | 1 % | p99 of a window then lacks as many requests as lie above it |
 * | over below | 0.5 % | hysteresis: a share around 1 % warns once |
 * | least events | 200 | fewer events give no meaningful share |
 */
const SPAN_MS = 300_000;
const BUCKET_MS = 15_000;
const BUCKETS = SPAN_MS / BUCKET_MS;
const WARN_ABOVE = 0.01;
const OVER_BELOW = 0.005;
const LEAST_EVENTS = 200;

type CountedChunk = Pick<LedgerEntry, 'topic' | 'aggregated' | 'overflow' | 'lateMerged'>;

interface Bucket {
  number: number;
  counted: number;
  late: number;
}

interface Topic {
  readonly buckets: readonly Bucket[];
  isHigh: boolean;
}

/**
 * Share of events in the last five minutes that arrived late: after their partition's watermark had passed
 * the window's end and the grace, so perhaps after evaluation. Exported per topic as a gauge. Logged when it
 * rises above 1 %, and when it falls below 0.5 % again.
 *
 * Memory: 20 buckets per topic.
 */
export class LateShare {
  readonly #topics = new Map<string, Topic>();
  readonly #metrics: Pick<Metrics, 'eventsLateMergedShare'>;
  readonly #log: Pick<Logger, 'warn' | 'info'>;

  constructor(metrics: Pick<Metrics, 'eventsLateMergedShare'>, log: Pick<Logger, 'warn' | 'info'>) {
    this.#metrics = metrics;
    this.#log = log;
  }

  count({ topic, aggregated, overflow, lateMerged }: CountedChunk, nowMs: number): void {
    let known = this.#topics.get(topic);
    if (known === undefined) {
      const buckets = Array.from({ length: BUCKETS }, () => ({ number: -1, counted: 0, late: 0 }));
      known = { buckets, isHigh: false };
      this.#topics.set(topic, known);
    }
    const number = Math.floor(nowMs / BUCKET_MS);
    const bucket = known.buckets[number % BUCKETS] as Bucket;
    if (bucket.number !== number) Object.assign(bucket, { number, counted: 0, late: 0 });
    bucket.counted += aggregated + overflow;
    bucket.late += lateMerged;
  }

  show(nowMs: number): void {
    const latest = Math.floor(nowMs / BUCKET_MS);
    for (const [topic, known] of this.#topics) {
      let counted = 0;
      let late = 0;
      for (const bucket of known.buckets) {
        if (bucket.number <= latest - BUCKETS || bucket.number > latest) continue;
        counted += bucket.counted;
        late += bucket.late;
      }
      const share = counted === 0 ? 0 : late / counted;
      this.#metrics.eventsLateMergedShare.set({ topic }, share);
      this.#warn(topic, known, { share, counted, late });
    }
  }

  #warn(
    topic: string,
    known: Topic,
    { share, counted, late }: { share: number; counted: number; late: number },
  ): void {
    const isHigh = known.isHigh
      ? share >= OVER_BELOW
      : counted >= LEAST_EVENTS && share > WARN_ABOVE;
    if (isHigh === known.isHigh) return;
    known.isHigh = isHigh;
    const facts = {
      topic,
      late_merged: late,
      of: counted,
      percent: Number((share * 100).toFixed(2)),
    };
    if (isHigh) {
      this.#log.warn(
        facts,
        'more than 1 % of the events came after the watermark had passed their window; raise windows.grace, or find the producers that send late (docs/explained/windows.md)',
      );
    } else {
      this.#log.info(
        facts,
        'fewer than 0.5 % of the events come after the watermark has passed their window',
      );
    }
  }
}
