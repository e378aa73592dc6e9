import { totalStage } from '../../base/dimensions.ts';
import { type AnomalyEvent, type Severity, severities } from '../../contract/anomaly-event.ts';
import { round } from '../event/measured-fields.ts';
import { severity } from '../event/severity.ts';
import { failures } from '../proportion/proportion.ts';

/** Severity of the most severe series, or of the sum: many small parts may make up half of the traffic. */
export function incidentSeverity(open: readonly AnomalyEvent[]): Severity {
  const together = [2, 5].map((ratio) => {
    const slow = open.filter((event) => isOfWholeRequests(event) && extentOf(event) >= ratio);
    return severity({
      ...{ totalMoved: true, ratio },
      affectedShare: slow.reduce((sum, { affected_share }) => sum + (affected_share ?? 0), 0),
      seriesShare: seriesShareOf(slow),
      isHistoryShort: slow.some(({ evidence }) => evidence.history_from !== undefined),
      isUsualInPart: slow.some(({ kind }) => kind !== failures.kind),
    });
  });
  return mostSevere([...open.map((event) => event.severity), ...together]);
}

/** Size of an anomaly, to compare it with others of its kind: the ratio, or its inverse for traffic. */
export function extentOf({ ratio, rate }: Pick<AnomalyEvent, 'ratio' | 'rate'>): number {
  if (rate === undefined) return ratio;
  if (rate.unit !== 'requests per second') return rate.ratio;
  return rate.ratio === 0 ? Number.MAX_VALUE : 1 / rate.ratio;
}

export function mostSevere(of: readonly Severity[]): Severity {
  return severities.findLast((each) => of.includes(each)) ?? 'info';
}

function isOfWholeRequests({ kind, evidence }: AnomalyEvent): boolean {
  if (kind === 'tail_shift') return evidence.measured_stage === totalStage;
  return kind === 'error_rate' || kind === 'cold_starts';
}

/** The part of all requests that is affected, over all affected series. */
export function affectedShareOf(
  affected: readonly AnomalyEvent[],
): Pick<AnomalyEvent, 'affected_share'> {
  const shares = affected.flatMap(({ affected_share: share }) =>
    share === undefined ? [] : Math.max(0, share),
  );
  if (shares.length === 0) return {};
  return {
    affected_share: round(
      Math.min(
        1,
        shares.reduce((sum, share) => sum + share, 0),
      ),
    ),
  };
}

/** Share of the requests of these series, all together, that is slower or fails. */
function seriesShareOf(events: readonly AnomalyEvent[]): number {
  let [affected, requests] = [0, 0];
  for (const { evidence, ...event } of events) {
    affected += evidence.exceedances - evidence.expected;
    requests += event.requests;
  }
  return requests === 0 ? 0 : affected / requests;
}
