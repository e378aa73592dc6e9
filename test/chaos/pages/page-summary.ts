import { type PagePlanOptions, pagePlan } from './page-plan.ts';

/** One acceptance, as the receiver saw it. */
export interface Acceptance {
  /** `opened`, `risen`, `resolved`; of a receiver of all revisions the revision's number. */
  readonly what: string;
  readonly model: string;
  readonly atMs: number;
}

export interface ReceiverSummary {
  readonly name: string;
  readonly requests: number;
  readonly accepted: number;
  /** Anomalies of which something is missing, and those whose order was wrong. */
  readonly lost: readonly string[];
  readonly disordered: readonly string[];
  /** Acceptances beyond the first of the same thing. */
  readonly twice: number;
}

/** Receivers of all revisions must have each of them, once and in order. */
export function summarizeRevisions(
  name: string,
  requests: number,
  accepted: readonly Acceptance[],
  options: PagePlanOptions,
): ReceiverSummary {
  const wanted = new Map<string, string[]>();
  for (const { event } of pagePlan(options)) {
    wanted.set(event.model, [...(wanted.get(event.model) ?? []), String(event.revision)].sort());
  }
  return summarize(
    name,
    requests,
    accepted,
    (model, first) => ({
      isLost: (wanted.get(model) ?? []).some((revision) => !first.includes(revision)),
      isDisordered: first.join() !== [...first].sort().join(),
    }),
    [...wanted.keys()],
  );
}

/**
 * Pagers must have an opening and then an end, or nothing of what was over before it could be delivered. An
 * opening whose acceptance is not on record, as the process was killed, is followed by the end that stands alone:
 * `past` in a chat. That end comes to a pager as well, where it opens nothing, though the opening had not arrived.
 *
 * @param skipped models of which the latter is on record.
 */
export function summarizeStates(
  name: string,
  requests: number,
  accepted: readonly Acceptance[],
  options: PagePlanOptions,
  skipped: ReadonlySet<string>,
): ReceiverSummary {
  const models = [...new Set(pagePlan(options).map(({ event }) => event.model))];
  return summarize(
    name,
    requests,
    accepted,
    (model, first) => ({
      isLost: first.length === 0 ? !skipped.has(model) : !isWhole(first),
      isDisordered: first.length > 0 && !isInOrder(first),
    }),
    models,
  );
}

const isWhole = (changes: readonly string[]) =>
  changes.includes('resolved') || changes.includes('past');
const isInOrder = (changes: readonly string[]) =>
  /^(past|resolved|opened(,risen)?(,resolved|,past)?)$/.test(changes.join());

function summarize(
  name: string,
  requests: number,
  accepted: readonly Acceptance[],
  examine: (model: string, first: readonly string[]) => { isLost: boolean; isDisordered: boolean },
  models: readonly string[],
): ReceiverSummary {
  const byModel = new Map<string, string[]>();
  let twice = 0;
  for (const { model, what } of accepted) {
    const seen = byModel.get(model) ?? [];
    if (seen.includes(what)) twice++;
    else byModel.set(model, [...seen, what]);
  }
  const examined = models.map((model) => {
    const first = byModel.get(model) ?? [];
    return { model: `${model}: ${first.join()}`, ...examine(model, first) };
  });
  return {
    name,
    requests,
    accepted: accepted.length,
    lost: examined.filter(({ isLost }) => isLost).map(({ model }) => model),
    disordered: examined.filter(({ isDisordered }) => isDisordered).map(({ model }) => model),
    twice,
  };
}
