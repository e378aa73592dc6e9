import { type AnomalyEvent, type Severity, severities } from '../../contract/anomaly-event.ts';
import { formatRatio } from '../../contract/format.ts';
import { StageTable } from '../../contract/stage-table.ts';
import { round } from '../event/measured-fields.ts';
import { criticalFrom, severity } from '../event/severity.ts';
import { shareReason } from '../event/severity-reason.ts';
import { failures } from '../proportion/proportion.ts';

/** Severity of the most severe series, or of the sum: many small parts may make up half of the traffic. */
export function incidentSeverity(
  open: readonly AnomalyEvent[],
  stages: StageTable = StageTable.standard,
): Severity {
  const together = [2, 5].map((ratio) => {
    const slow = open.filter((event) => isWaitedFor(event, stages) && extentOf(event) >= ratio);
    return severity({
      ...{ isWaitedFor: true, ratio },
      affectedShare: slow.reduce((sum, { affected_share }) => sum + (affected_share ?? 0), 0),
      seriesShare: seriesShareOf(slow),
      isHistoryShort: slow.some(({ evidence }) => evidence.history_from !== undefined),
      isUsualInPart: slow.some(({ kind }) => kind !== failures.kind),
    });
  });
  return mostSevere([...open.map((event) => event.severity), ...together]);
}

/** The reason why series are critical together: those that are slow enough in what somebody waits for. */
export function togetherReason(open: readonly AnomalyEvent[], stages: StageTable): string {
  const { wide, deep } = criticalFrom;
  const reasons = [wide, deep].flatMap(({ ratio, share: least }) => {
    const slow = open.filter((event) => isWaitedFor(event, stages) && extentOf(event) >= ratio);
    const share = slow.reduce((sum, event) => sum + (event.affected_share ?? 0), 0);
    const each = `${slow.length} series each at least ${formatRatio(ratio)} the baseline`;
    return share >= least ? shareReason(share, ratio, each) : [];
  });
  return reasons[0] ?? 'all its series together';
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

function isWaitedFor({ kind, evidence }: AnomalyEvent, stages: StageTable): boolean {
  if (kind === 'tail_shift') return stages.isWaitedFor(evidence.measured_stage);
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
