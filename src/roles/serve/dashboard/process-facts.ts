import { openRoutes } from '../../../alert/routing/open-routes.ts';
import type { Route } from '../../../alert/routing/route.ts';
import { type Clock, systemClock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/failure.ts';
import { type MetricsSnapshot, readMetrics } from '../../../base/telemetry/metrics.ts';
import { minuteMs } from '../../../base/time.ts';
import type { RejectReason } from '../../../decode/reject-reasons.ts';
import type { Publisher } from '../../../kafka/client/publisher.ts';
import type { Completeness } from '../../detect/completeness/completeness.ts';
import type { RoleContext, RunningRole } from '../../role.ts';

/** Facts that the process knows of itself and no table has. */
export interface ProcessFacts {
  readonly groupId: string;
  readonly lagMessages: ReadonlyMap<string, number> | undefined;
  /** Events that were rejected in the last hour, or since the start of the process. */
  readonly rejected: { readonly byReason: ReadonlyMap<string, number>; readonly sinceMs: number };
  /** Series of its detector; undefined where it stands by. */
  readonly series: { readonly evaluated: number; readonly waiting: number } | undefined;
  readonly routes: readonly Route[];
  readonly problems: readonly string[];
}

export interface FactSources {
  readonly context: Pick<RoleContext, 'config' | 'groupId' | 'log' | 'metrics' | 'publisher'>;
  readonly others: readonly RunningRole[];
  readonly completeness: () => Promise<Completeness>;
  readonly problems: () => readonly string[];
}

/** Rejected events since the start, by reason. */
interface Sample {
  readonly atMs: number;
  readonly rejected: ReadonlyMap<string, number>;
}

const samplesAnHour = 60;

/** Reads facts of the process when they are asked for. Rejected events are sampled once a minute. */
export class FactReader {
  readonly #sources: FactSources;
  readonly #clock: Clock;
  /** Samples of a minute, the oldest first. */
  readonly #samples: [Sample, ...Sample[]];
  readonly #stop: () => void;
  #routes: readonly Route[] | undefined;
  /** Of the routes. */
  #publisher: Publisher | undefined;

  constructor(sources: FactSources, clock: Clock = systemClock) {
    this.#sources = sources;
    this.#clock = clock;
    this.#samples = [{ atMs: clock.nowMs(), rejected: new Map() }];
    this.#stop = clock.every(minuteMs, () => void this.#sample());
  }

  async read(): Promise<ProcessFacts> {
    const { context, completeness, problems } = this.#sources;
    const [{ lagMessages, kafkaOutage }, snapshots] = await Promise.all([
      completeness(),
      this.#snapshots(),
    ]);
    const isLeading = sumOf(snapshots, 'tailmark_detector_leader') > 0;
    const isKnown = kafkaOutage === undefined && context.config.source.type === 'kafka';
    return {
      groupId: context.groupId,
      lagMessages: isKnown ? lagMessages : undefined,
      rejected: this.#rejectedSince(rejectedIn(snapshots)),
      series: isLeading
        ? {
            evaluated: sumOf(snapshots, 'tailmark_detector_series'),
            waiting: sumOf(snapshots, 'tailmark_detector_series_unevaluated'),
          }
        : undefined,
      routes: this.#openRoutes(),
      problems: problems(),
    };
  }

  stop(): void {
    this.#stop();
    this.#closeRoutes();
  }

  #closeRoutes(): void {
    for (const { receiver } of this.#routes ?? []) void receiver.close();
    this.#routes = undefined;
  }

  /** Receivers are opened for what they match; nothing is sent to them. */
  #openRoutes(): readonly Route[] {
    const { config, publisher, log } = this.#sources.context;
    // A process that waits for its login has none yet.
    if (publisher !== this.#publisher) this.#closeRoutes();
    this.#publisher = publisher;
    try {
      this.#routes ??= openRoutes(config.alert, publisher, process.env);
    } catch (error) {
      log.warn({ err: messageOf(error) }, 'the dashboard does not show what receivers are due');
      this.#routes = [];
    }
    return this.#routes;
  }

  async #snapshots(): Promise<MetricsSnapshot[]> {
    const { context, others } = this.#sources;
    const threads = await Promise.all(others.map((role) => role.threadMetrics?.() ?? []));
    return [await readMetrics(context.metrics), ...threads.flat()];
  }

  async #sample(): Promise<void> {
    try {
      const rejected = rejectedIn(await this.#snapshots());
      this.#samples.push({ atMs: this.#clock.nowMs(), rejected });
    } catch {
      // A thread that ends has no metrics: the next minute has a sample again.
    }
    if (this.#samples.length > samplesAnHour) this.#samples.shift();
  }

  #rejectedSince(now: ReadonlyMap<string, number>): ProcessFacts['rejected'] {
    const [{ atMs: sinceMs, rejected }] = this.#samples;
    const byReason = new Map(
      [...now]
        .map(([reason, events]) => [reason, events - (rejected.get(reason) ?? 0)] as const)
        .filter(([, events]) => events > 0),
    );
    return { byReason, sinceMs };
  }
}

/** Late events are counted apart: they were understood. */
const lateReason: RejectReason = 'late';

function rejectedIn(snapshots: readonly MetricsSnapshot[]): Map<string, number> {
  const rejected = new Map<string, number>();
  for (const { labels, value } of valuesOf(snapshots, 'tailmark_events_dropped_total')) {
    const { reason = '' } = labels;
    if (reason !== lateReason)
      rejected.set(String(reason), (rejected.get(String(reason)) ?? 0) + value);
  }
  return rejected;
}

function sumOf(snapshots: readonly MetricsSnapshot[], name: string): number {
  return valuesOf(snapshots, name).reduce((sum, { value }) => sum + value, 0);
}

function valuesOf(snapshots: readonly MetricsSnapshot[], name: string) {
  return snapshots.flatMap((metrics) =>
    metrics.filter((metric) => metric.name === name).flatMap(({ values }) => values),
  );
}
