import type { AnomalyEvent, Scope } from '../event/anomaly-event.ts';

/** Models named before the rest is counted. */
const modelsNamed = 3;

export interface IncidentSummaryInput {
  readonly state: AnomalyEvent['state'];
  readonly scope: Scope;
  /** Of the series that it has hit. */
  readonly models: readonly string[];
  /** What is said of the worst of its series, or of the last one to recover. */
  readonly detail: string;
}

/** "12 of 14 series of ranker (all of version v2) are hit; worst: p99 of ranker (search) is 412 ms, …". */
export function incidentSummary({ state, scope, models, detail }: IncidentSummaryInput): string {
  const who = `${scope.affected} of ${scope.total} series of ${named(models)}${sharedBy(scope)}`;
  if (state === 'resolved') return `${who} were hit and none is any more; last: ${detail}`;
  const back = scope.affected - scope.unresolved;
  const recovered = back === 0 ? '' : `, ${back} of them no more`;
  return `${who} are hit${recovered}; worst: ${detail}`;
}

function named(models: readonly string[]): string {
  const sorted = [...models].sort();
  const shown = sorted.slice(0, modelsNamed);
  const rest = sorted.length - shown.length;
  if (rest > 0) return `${shown.join(', ')} and ${rest} more models`;
  const last = shown.pop() ?? '';
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`;
}

function sharedBy({ common }: Scope): string {
  if (common.length === 0) return '';
  const parts = common.map(({ dimension, value }) => {
    if (dimension === 'cold_start') return value === 'true' ? 'cold starts' : 'warm ones';
    return `${dimension.replace('_', ' ')} ${value === '' ? 'without a name' : value}`;
  });
  return ` (all of ${parts.join(' and ')})`;
}
