import type { DimensionName } from '../../base/dimensions.ts';
import type { AnomalyEvent, Scope } from '../../contract/anomaly-event.ts';
import { dimensionWords } from '../../contract/format.ts';

/** Models named before the rest is counted. */
const modelsNamed = 3;

const prepositions: Partial<Record<DimensionName, string>> = {
  version: 'on',
  host: 'on',
  region: 'in',
};

export interface IncidentSummaryInput {
  readonly state: AnomalyEvent['state'];
  readonly scope: Scope;
  /** Models of the affected series. */
  readonly models: readonly string[];
  /** Summary of the most affected series, or of the last one to recover. */
  readonly detail: string;
}

/** "12 of 14 ranker series affected (all on version v2). Most affected: p99 of ranker (search) is 412 ms, …". */
export function incidentSummary({ state, scope, models, detail }: IncidentSummaryInput): string {
  const series = `${scope.affected} of ${scope.total} ${named(models)}`;
  if (state === 'resolved') {
    return `${series} were affected${sharedBy(scope)}, all resolved. Last: ${detail}`;
  }
  const who = `${series} affected${sharedBy(scope)}`;
  const back = scope.affected - scope.unresolved;
  const recovered = back === 0 ? '' : `, ${back} recovered`;
  return `${who}${recovered}. Most affected: ${detail}`;
}

/** "ranker series", "series of ranker and embedder". */
function named(models: readonly string[]): string {
  const sorted = [...models].sort();
  const shown = sorted.slice(0, modelsNamed);
  const rest = sorted.length - shown.length;
  const others = rest === 1 ? 'one more model' : `${rest} more models`;
  if (rest > 0) return `series of ${shown.join(', ')} and ${others}`;
  const last = shown.pop() ?? '';
  if (shown.length > 0) return `series of ${shown.join(', ')} and ${last}`;
  return last === '' ? 'series' : `${last} series`;
}

function sharedBy({ common }: Scope): string {
  if (common.length === 0) return '';
  const parts = common.map(({ dimension, value }) => {
    if (dimension === 'cold_start') return value === 'true' ? 'cold starts' : 'warm';
    const name = dimensionWords(dimension);
    return value === '' ? `without ${name}` : `${prepositions[dimension] ?? 'of'} ${name} ${value}`;
  });
  return ` (all ${parts.join(', ')})`;
}
