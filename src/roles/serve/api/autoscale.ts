import { z } from 'zod';
import { dayMs } from '../../../base/time.ts';
import type { AnomalyEvent } from '../../../contract/anomaly-event.ts';
import { storedQuantiles } from '../../../sketch/stored-quantiles.ts';
import type { Completeness } from '../../detect/completeness/completeness.ts';
import { Problem } from '../../http/problem.ts';
import { checked } from '../http/explain-request.ts';
import type { Parameters } from '../http/read-request.ts';

export const autoscaleSchema = z.strictObject({
  model: z.string().min(1).max(4096),
  stage: z.string().min(1).max(4096).default('total'),
  q: z.enum(storedQuantiles.map(String)).transform(Number),
  objective_ms: z.coerce.number().min(0.001).max(dayMs).optional(),
  window_seconds: z.coerce.number().int().min(10).max(3_600).default(60),
});

/** An autoscaler's question, with the objective of `detect.slos` where it names none. */
export function autoscaleQuery(
  parameters: Parameters,
  { objectiveMs }: { readonly objectiveMs: (model: string, stage: string) => number | undefined },
): AutoscaleQuery & { readonly q: number } {
  const { model, stage, q, objective_ms, window_seconds } = checked(autoscaleSchema, parameters, {
    what: 'parameter',
  });
  const objective = objective_ms ?? objectiveMs(model, stage);
  if (objective === undefined) {
    const detail = `objective_ms must be given: detect.slos has no objective for stage ${stage} of model ${model}.`;
    throw new Problem(400, detail);
  }
  return { model, stage, q, objectiveMs: objective, windowMs: window_seconds * 1000 };
}

/** Requests of a stage over a range, and the quantile; undefined without any. */
export interface StageLoad {
  readonly requests: number;
  readonly quantileMs: number | undefined;
}

export interface AutoscaleQuery {
  readonly model: string;
  readonly stage: string;
  readonly objectiveMs: number;
  readonly windowMs: number;
}

export interface AutoscaleSources {
  readonly nowMs: () => number;
  readonly completeness: () => Promise<Completeness>;
  readonly load: (fromMs: number, toMs: number) => Promise<StageLoad>;
  /** True where the model has had requests of this stage in the last week. */
  readonly isKnown: () => Promise<boolean>;
  /** True where any model has had a request in a range. */
  readonly hasEvents: (fromMs: number, toMs: number) => Promise<boolean>;
  /** The open anomaly that says that requests of the model have stopped; undefined without one. */
  readonly silence: () => Promise<Pick<AnomalyEvent, 'id' | 'started_at'> | undefined>;
}

/** Oldest end of complete windows that an autoscaler may act on. */
const mostAgeMs = 90_000;
const stepMs = 10_000;

/** `value` is the quantile over its objective: above 1 it is missed. */
export interface AutoscaleAnswer {
  readonly value: number;
  readonly quantile_ms: number;
  readonly objective_ms: number;
  readonly requests: number;
  /** Range of event time that was read. */
  readonly from: string;
  readonly to: string;
}

/**
 * The load of a stage for an autoscaler. 0 only where it is known that nothing was asked: 0 means "scale to
 * none" to KEDA, and an outage must never do that. Producers that are dead look like no traffic. So 0 takes
 * events of other models or stages in the same range, which show that events arrive, and a detector that does
 * not hold the silence for abnormal.
 *
 * @throws Problem 503 where the load is stale or unknown.
 */
export async function autoscale(
  asked: AutoscaleQuery,
  sources: AutoscaleSources,
): Promise<AutoscaleAnswer> {
  const { objectiveMs, windowMs } = asked;
  const { nowMs, completeness, load } = sources;
  const now = nowMs();
  const known = await completeness();
  if (known.storeOutage !== undefined) {
    throw new Problem(503, 'The load is not known: ClickHouse does not respond.', 10);
  }
  // Without events windows end nowhere, and only the clock goes on.
  const endMs = Math.max(known.completeMs, known.knownMs ?? Number.NEGATIVE_INFINITY);
  if (!(now - endMs <= mostAgeMs)) throw stale(known, now, endMs);
  const toMs = Math.floor(Math.min(endMs, now) / stepMs) * stepMs;
  const fromMs = toMs - windowMs;
  const { requests, quantileMs } = await load(fromMs, toMs);
  const isEmpty = quantileMs === undefined || requests === 0;
  if (isEmpty && !known.hasAllTraffic) throw stale(known, now, endMs);
  if (isEmpty) await requireKnownSilence(asked, sources, { fromMs, toMs });
  const ms = isEmpty ? 0 : quantileMs;
  return {
    value: Number((ms / objectiveMs).toPrecision(6)),
    quantile_ms: ms,
    objective_ms: objectiveMs,
    requests,
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
  };
}

async function requireKnownSilence(
  { model, stage }: AutoscaleQuery,
  { isKnown, hasEvents, silence }: AutoscaleSources,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<void> {
  if (!(await isKnown())) {
    const detail = `The load is not known: no request of model ${model} had a stage ${stage} between a week and a day ago, so its silence may be dead producers.`;
    throw new Problem(503, detail);
  }
  if (!(await hasEvents(fromMs, toMs))) {
    const range = `${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()}`;
    const detail = `The load is not known: no event of any model arrived from ${range}. Either nothing was asked, or the producers do not run.`;
    throw new Problem(503, detail, 10);
  }
  const open = await silence();
  if (open === undefined) return;
  const detail = `The load is not known: the detector expects requests of model ${model}, and has had none since ${open.started_at} (anomaly ${open.id}).`;
  throw new Problem(503, detail, 10);
}

function stale(known: Completeness, nowMs: number, endMs: number): Problem {
  const [first] = known.behind;
  const isEver = Number.isFinite(endMs);
  const what = isEver
    ? `The load of the last ${Math.round((nowMs - endMs) / 1000)} s is not known`
    : 'The load is not known';
  const waiting =
    first === undefined
      ? `no event ${isEver ? 'of that time ' : ''}is stored`
      : `${first.lagMessages} messages of ${first.name} wait to be stored`;
  // Not why: the error of a broker quotes addresses and users, and the log has it.
  const why = known.kafkaOutage === undefined ? waiting : 'Kafka does not respond';
  return new Problem(503, `${what}: ${why}.`, 10);
}
