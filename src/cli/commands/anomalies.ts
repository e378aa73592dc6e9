import { Option } from 'commander';
import { lookFirst } from '../../alert/message/look-first.ts';
import { exitCodes } from '../../base/exit-codes.ts';
import type { AnomalyEvent, Scope } from '../../contract/anomaly-event.ts';
import { blameText, effectsText } from '../../contract/blame-text.ts';
import { formatMsOf, quantileName } from '../../contract/format.ts';
import { hasBeenWorse, peakText } from '../../contract/peak-text.ts';
import { ofWorstSeries } from '../../contract/worst-series.ts';
import { unknownText } from '../../series/unknown-name.ts';
import { valueText } from '../../series/value-text.ts';
import { AnomalyStore } from '../../sink/anomalies/anomaly-store.ts';
import { DeliveryStore } from '../../sink/anomalies/delivery-store.ts';
import { unknownIn } from '../../sink/read-seen-values.ts';
import { visible } from '../../views/text/format.ts';
import type { Command } from '../command.ts';
import { countOption, timeRange } from '../flag-values.ts';
import type { Io } from '../io.ts';
import { clickHouseFlags, loadSettings } from '../load.ts';
import { colorsOf } from '../text/colors.ts';
import { renderDeliveries } from '../text/render-deliveries.ts';
import { withClickHouse } from '../with-clickhouse.ts';

type EventDriver = NonNullable<AnomalyEvent['drivers']>[number];

/** Drivers shown, and the growth of a value's share from which its baseline is shown. */
const driversShown = 2;
const muchMore = 1.5;

export const anomalies: Command = {
  flags: clickHouseFlags,
  help: `
Examples:
  tailmark anomalies --state open
  tailmark anomalies --since 7d --model ranker --json | jq .anomalies[].summary
  tailmark anomalies --deliveries      who was notified, when, and what receivers answered

Exit codes: 0 no listed anomaly is open, 1 the model is unknown, 2 at least one is open.`,
  configure(command) {
    command
      .option(
        '--since <TIME>',
        'only anomalies that started since: a duration before now, or RFC 3339',
        '24h',
      )
      .option('--model <NAME>', 'only this model')
      .addOption(
        new Option('--state <STATE>', 'only open or resolved ones').choices(['open', 'resolved']),
      )
      .option('--limit <N>', 'at most this many', '50')
      .option('--deliveries', 'also show how far the deliveries to each receiver came');
  },
  async run(_args, options, io) {
    const { config } = await loadSettings(options, io);
    const { fromMs } = timeRange(String(options.since), 'now', Date.now());
    const limit = countOption('--limit', options.limit, 1, 10_000);
    const found = await withClickHouse(config, io, 'read anomalies', async (client) => {
      const { state } = options;
      const model = typeof options.model === 'string' ? options.model : '';
      const events = await new AnomalyStore(client).since(fromMs, {
        model,
        state: state === 'open' || state === 'resolved' ? state : '',
        limit,
      });
      const ids = options.deliveries === true ? events.map(({ id }) => id) : [];
      const deliveries = await new DeliveryStore(client).statusOf(ids);
      return {
        events,
        deliveries,
        unknown: events.length === 0 ? await unknownIn(client, { model }) : undefined,
      };
    });
    const { events, deliveries, unknown } = found;
    const of = options.state === undefined ? 'anomalies' : `${options.state} anomalies`;
    if (unknown !== undefined) io.err(`${visible(unknownText(unknown))}\n`);
    const shown =
      options.deliveries === true ? { anomalies: events, deliveries } : { anomalies: events };
    if (options.json === true) io.out(`${JSON.stringify(shown)}\n`);
    else if (events.length === 0) io.err(`No ${of} since ${new Date(fromMs).toISOString()}.\n`);
    else {
      for (const event of events) {
        io.out(anomalyText(event, io));
        if (options.deliveries !== true) continue;
        const own = deliveries.filter(({ id }) => id === event.id);
        io.out(`${renderDeliveries(own, io)}\n`);
      }
    }
    if (unknown !== undefined) return exitCodes.failed;
    return events.some(({ state }) => state !== 'resolved') ? exitCodes.found : exitCodes.ok;
  },
};

/** Renders an anomaly as a few lines: change, times, blamed stages, where to look. */
export function anomalyText(event: AnomalyEvent, io: Pick<Io, 'color'>): string {
  const { bold, dim, green, red, yellow } = colorsOf(io);
  const paint = event.state === 'resolved' ? green : event.severity === 'critical' ? red : yellow;
  const state = event.state === 'resolved' ? 'resolved' : `open, ${event.severity}`;
  const shown = ofWorstSeries(event);
  const { started_at, ended_at, detected_at, resolved_at } = event;
  const ended = ended_at ? ` to ${ended_at}` : '';
  const resolved = resolved_at === null ? '' : `, resolved ${resolved_at}`;
  const blame = blameText(shown);
  const effects = effectsText(shown);
  return [
    `${paint(state)}  ${bold(visible(event.summary))}`,
    `  ${dim('since: ')} ${started_at}${ended}`,
    `  ${dim('seen:  ')} ${detected_at}${resolved}`,
    ...(event.scope === undefined ? [] : [`  ${dim('where: ')} ${whereText(event.scope)}`]),
    ...(blame === '' ? [] : [`  ${dim('blame: ')} ${visible(blame)}`]),
    ...(effects === '' ? [] : [`  ${dim('effect:')} ${visible(effects)}`]),
    ...(shown.peak && (event.state === 'resolved' || hasBeenWorse(shown))
      ? [`  ${dim('peak:  ')} ${peakText(shown)}, ${shown.peak.at}`]
      : []),
    ...(event.severity_reason === undefined
      ? []
      : [`  ${dim('rose:  ')} to ${event.severity}: ${visible(event.severity_reason)}`]),
    ...(event.rate === undefined
      ? []
      : durationsText(shown).map((text) => `  ${dim('tail:  ')} ${text}`)),
    ...(event.state === 'resolved' ? [] : [`  ${dim('look:  ')} ${visible(lookFirst(shown))}`]),
    ...(event.drivers ?? [])
      .slice(0, driversShown)
      .map((driver, i) => `  ${dim(i === 0 ? 'driver:' : '       ')} ${driverText(driver)}`),
    ...(event.exemplars.length === 0
      ? []
      : [`  ${dim('trace: ')} ${event.exemplars.slice(0, 3).join(' ')}`]),
    `  ${dim('id:    ')} ${event.id}`,
    '',
  ].join('\n');
}

/** `host pod-7: 71 % of slow requests, 8 % of all`; with the baseline where that share has grown. */
function driverText({
  facet,
  value,
  share_of_slow,
  share_of_all,
  baseline_share_of_all: baseline,
}: EventDriver): string {
  const percent = (part: number) => `${Math.round(part * 100)} %`;
  const isMore = baseline !== undefined && share_of_all >= muchMore * baseline;
  const name = `${visible(facet)} ${visible(value)}`;
  const text = `${name}: ${percent(share_of_slow)} of slow requests, ${percent(share_of_all)} of all`;
  return isMore ? `${text} (baseline ${percent(baseline)})` : text;
}

/** Renders the durations of requests for an anomaly of their rate; '' without any. */
function durationsText({ quantile, observed_ms, baseline_ms }: AnomalyEvent): string[] {
  if (observed_ms === 0) return [];
  const format = formatMsOf(observed_ms, baseline_ms);
  return [`${quantileName(quantile)} is ${format(observed_ms)} (baseline ${format(baseline_ms)})`];
}

/** `version v2 12/12; region eu 6/12, us 6/12`: of the series with a value, how many are affected. */
function whereText({ values }: Scope): string {
  const texts = new Map<string, string>();
  for (const { dimension, value, affected, total } of values) {
    const before = texts.get(dimension);
    const start = before === undefined ? dimension : `${before},`;
    texts.set(dimension, `${start} ${visible(valueText(value))} ${affected}/${total}`);
  }
  return [...texts.values()].join('; ');
}
