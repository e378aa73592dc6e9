import { cleanText } from '../../alert/message/clean-text.ts';
import { headlineOf } from '../../alert/message/title.ts';
import { dimensions } from '../../base/dimensions.ts';
import { hourSeconds, minuteSeconds } from '../../base/time.ts';
import type { Config } from '../../config/schema.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { withDayOf } from '../../contract/as-of.ts';
import type { TimeSpan } from '../../contract/compared-times.ts';
import { ofWorstSeries } from '../../contract/worst-series.ts';
import { baselineValues } from '../../detect/drivers/found-drivers.ts';
import { attributesField, seriesOf } from '../../series/series-key.ts';
import type { Series } from '../../series/series-window.ts';
import { type DeliveryStatus, DeliveryStore } from '../../sink/anomalies/delivery-store.ts';
import { isOfWholeModel, readMembers, shownRange } from '../../sink/anomalies/explanation.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { readRows } from '../../sink/client/read-query.ts';
import type { AnomalyAnswer } from '../answers/anomalies.ts';
import { evidenceOf } from '../text/evidence.ts';
import { affectedSeries } from './affected-series.ts';
import { eventOfHeadline, messageOfEvent } from './anomalies.ts';
import { eventsOf } from './anomaly-of.ts';
import { incidentLengths } from './incident-lengths.ts';
import { requestsOf, slowestOf } from './incident-requests.ts';
import { incidentTimes } from './incident-times.ts';
import { withStoredBaseline } from './stored-baseline.ts';

export interface AnomalyQuestion {
  /** The whole id, or a start that no other id has. */
  readonly id: string;
  readonly nowMs: number;
  readonly retention: Pick<Config['clickhouse']['retention'], 'latency_1m'>;
}

type HistoryRow = AnomalyAnswer['history'][number];

/** Longest text of one entry of the history. */
const entryChars = 500;
/** Series whose requests are counted; of a larger incident the most affected ones. */
const mostSeries = 1_000;

/**
 * Everything about one anomaly, in the words of its messages.
 *
 * @throws UnknownName where no id begins so, or more than one.
 */
export async function anomalyView(
  client: ClickHouseClient,
  question: AnomalyQuestion,
): Promise<AnomalyAnswer> {
  const { id, nowMs } = question;
  const events = await eventsOf(client, id);
  const event = events.at(-1) ?? events[0];
  const members = await readMembers(client, event.id);
  const stored = await withStoredBaseline(client, event);
  const [deliveries, distribution, before] = await Promise.all([
    new DeliveryStore(client).statusOf([event.id]),
    readDistribution(client, stored, members, question),
    event.model === '' ? undefined : incidentTimes(client, event, nowMs),
  ]);
  const compared = before?.times;
  const { retention } = question;
  const lengths = await incidentLengths(client, event, { nowMs, retention, times: compared });
  const { title, facts } = messageOfEvent(event);
  const why = event.kind === 'pipeline' ? { sentences: [], statistics: [] } : evidenceOf(stored);
  const open = events.findLast(({ state }) => state !== 'resolved') ?? event;
  const range = shownRange(event, nowMs);
  const shown = ofWorstSeries(event);
  const series = affectedSeries(event, members);
  const { model: _, requestType: request_type, attributePairs, ...requests } = requestsOf(event);
  const attributes = attributePairs?.join(',');
  return {
    title,
    headline: headlineOf(eventOfHeadline(event, open)),
    facts: [
      ...facts.map((fact) => ({ ...fact, text: withDayOf(fact.text, event) })),
      ...why.statistics,
    ],
    event,
    series_count: series.count,
    series_title: series.title,
    series: [...series.listed],
    common: series.common,
    history: historyOf(events, deliveries),
    distribution,
    evidence: [...why.sentences],
    lengths: lengths ?? null,
    dashboard: {
      from: new Date(range.shownFromMs).toISOString(),
      to: new Date(Math.max(range.shownToMs, range.shownFromMs + 1)).toISOString(),
      measured_stage: shown.evidence.measured_stage,
      quantile: shown.quantile,
      baseline_ms: shown.baseline_ms,
      whole_model: isOfWholeModel(event),
      requests: { ...requests, request_type, ...attributesField(attributes) },
      slowest: slowestAnswer(event, nowMs),
      before: { from: stored.evidence.baseline_from, to: stored.evidence.baseline_to },
      compared: compared === undefined ? null : { a: timesOf(compared.a), b: timesOf(compared.b) },
    },
  };
}

const timesOf = ({ fromMs, toMs }: TimeSpan) => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
});

function slowestAnswer(event: AnomalyEvent, nowMs: number): AnomalyAnswer['dashboard']['slowest'] {
  const asked = slowestOf(event, nowMs);
  if (asked === undefined) return null;
  return { ...timesOf(asked), stage: asked.stage };
}

/** Events and deliveries, the oldest first. */
function historyOf(
  events: readonly AnomalyEvent[],
  deliveries: readonly DeliveryStatus[],
): HistoryRow[] {
  const severityAt = (revision: number) =>
    (events.find((event) => event.revision === revision) ?? events.at(-1))?.severity ?? 'info';
  const rows = [
    ...events.map((event): HistoryRow => {
      const summary = withDayOf(event.summary, event);
      const text = cleanText(summary, entryChars);
      return { at: event.emitted_at, what: event.state, severity: event.severity, text };
    }),
    ...deliveries.map((delivery): HistoryRow => {
      const at = new Date(delivery.at_ms).toISOString();
      const severity = severityAt(delivery.revision);
      return { at, what: 'delivery', severity, text: deliveryText(delivery) };
    }),
  ];
  return rows.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

const outcomes: Readonly<Record<string, string>> = {
  accepted: 'accepted',
  failed: 'did not accept',
  rejected: 'rejected',
  unacceptable: 'refused the content of',
  refused: 'was given up, as it refused',
  expired: 'was given up, as it did not accept in time',
  skipped: 'was not sent',
};
const states: Readonly<Record<string, string>> = {
  opened: 'the opening',
  updated: 'an update',
  resolved: 'the end',
};

/** "pager accepted the opening after 3 attempts", "chat rejected an update: 401 invalid_auth". */
function deliveryText({ receiver, state, outcome, answer, attempts }: DeliveryStatus): string {
  const what = `${receiver} ${outcomes[outcome] ?? outcome} ${states[state] ?? state}`;
  const tries = attempts > 1 ? ` after ${attempts} attempts` : '';
  const why = outcome === 'accepted' || answer === '' ? '' : `: ${answer}`;
  return cleanText(`${what}${tries}${why}`, entryChars);
}

/** Requests of its series by band: of one series, of all members of an incident, or of the whole model. */
async function readDistribution(
  client: ClickHouseClient,
  event: AnomalyEvent,
  members: readonly AnomalyEvent[],
  { nowMs, retention }: AnomalyQuestion,
): Promise<AnomalyAnswer['distribution']> {
  if (event.kind === 'pipeline') return [];
  const affected = (members.length === 0 ? [event] : members).slice(0, mostSeries);
  const whole = isOfWholeModel(event);
  const anyVersion = event.kind === 'drift';
  const keyOf = (series: Series) => keyText(anyVersion ? { ...series, version: '' } : series);
  const models = new Set(affected.map(({ model }) => model).filter((model) => model !== ''));
  const { fromMs, toMs } = shownRange(event, nowMs);
  const baselineFromMs = Date.parse(event.evidence.baseline_from);
  const isRecent = Math.min(baselineFromMs, fromMs) > nowMs - retention.latency_1m;
  const step = isRecent ? minuteSeconds : hourSeconds;
  const floor = (ms: number) => Math.max(0, Math.floor(ms / 1000 / step) * step);
  const ceil = (ms: number) => Math.ceil(ms / 1000 / step) * step;
  const fromSeconds = floor(fromMs);
  const baselineToMs = Date.parse(event.evidence.baseline_to);
  const rows = await readRows<Record<'from_ms' | 'before' | 'during', string | number>>(
    client,
    'view_distribution',
    {
      table: isRecent ? 'latency_1m' : 'latency_1h',
      ...{ whole, anyVersion, models: [...models] },
      requestType: whole ? event.request_type : '',
      series: affected.map(keyOf),
      baselineSeries: [...new Set(affected.flatMap(baselineSeries).map(keyOf))],
      ...{ fromSeconds, toSeconds: ceil(toMs) },
      baselineFromSeconds: floor(baselineFromMs),
      baselineToSeconds: Math.min(ceil(baselineToMs), fromSeconds),
    },
  );
  return rows.map(({ from_ms, before, during }) => {
    return { from_ms: Number(from_ms), before: Number(before), during: Number(during) };
  });
}

/** The series whose requests are the baseline: itself, or the lenders of a new one. */
function baselineSeries(event: AnomalyEvent): Series[] {
  const { version: versions, region: regions, host: hosts } = baselineValues(event);
  const own = seriesOf(event);
  return versions.flatMap((version) =>
    regions.flatMap((region) => hosts.map((host) => ({ ...own, version, region, host }))),
  );
}

/** Values of a series as sql/queries/view_distribution.sql joins them. */
function keyText(series: Series): string {
  const values = dimensions.map((dimension) => String(series[dimension]));
  return [...values, series.attributes ?? ''].join('\x1f');
}
