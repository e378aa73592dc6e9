import { attributeKey, isAttributeName, overflowValue } from '../base/dimensions.ts';
import { attributesOf } from '../series/attributes.ts';
import type { Series } from '../series/series-window.ts';
import { valueText } from '../series/value-text.ts';

/** Durations from here on are in seconds. */
export const secondsFromMs = 10_000;
/** Shorter ones would lose their digits in seconds. */
const leastAsSecondsMs = 100;
/** Below this, two decimals are 0. */
const unseen = 0.005;
const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** "ranker (search, eu-west-1)"; an empty model stands for all. */
export function seriesLabel(series: Series): string {
  const { service, version, request_type, region, tenant, host, cold_start } = series;
  const values = [service, version, request_type, region, tenant, host];
  const labels = values.filter((value) => value !== '');
  labels.push(...ownLabels(series));
  if (cold_start) labels.push('cold starts');
  const where = labels.length > 0 ? ` (${labels.join(', ')})` : '';
  return `${series.model === '' ? 'all models' : series.model}${where}`;
}

/** "adapter=lora-7", one of each own dimension, with the value as it was sent; "adapter=(none)" of a filter. */
export function ownLabels({ attributes = '' }: Pick<Series, 'attributes'>): string[] {
  if (attributes === overflowValue) return [attributes];
  return [...attributesOf(attributes)].map(([name, value]) => `${name}=${valueText(value)}`);
}

/** "request type", and "adapter" of an own dimension. */
export function dimensionWords(name: string): string {
  return isAttributeName(name) ? attributeKey(name) : name.replace('_', ' ');
}

/** "0.84 ms", "39.1 ms", "8,384 ms", "12.3 s": three digits at most, and seconds from 10 s on, as on the pages. */
export function formatMs(ms: number): string {
  if (!Number.isFinite(ms)) return '–';
  return Math.abs(ms) >= secondsFromMs ? `${decimal(ms / 1000)} s` : `${decimal(ms)} ms`;
}

/**
 * Durations of one sentence in one unit: where one of them is in seconds, so are all that have a tenth of one,
 * "17.7 s" and "6.55 s".
 *
 * @param compared the durations that decide the unit; the function formats others too.
 */
export function formatMsOf(...compared: readonly number[]): (ms: number) => string {
  const isSeconds = Math.max(...compared) >= secondsFromMs;
  return (ms) =>
    isSeconds && Math.abs(ms) >= leastAsSecondsMs ? `${decimal(ms / 1000)} s` : formatMs(ms);
}

/** "+294 ms", "−39.1 ms"; "0 ms" for what rounds to nothing. */
export function formatSignedMs(ms: number): string {
  if (Math.abs(ms) < unseen) return formatMs(0);
  return `${ms > 0 ? '+' : ''}${formatMs(ms)}`;
}

/** "1.32x", "3.4x", "12x". */
export function formatRatio(ratio: number): string {
  return `${ratio.toFixed(ratio >= 9.95 ? 0 : ratio >= 1.995 ? 1 : 2)}x`;
}

/** "116 %", "−15 %": of parts that add up to a whole. */
export function wholePercent(share: number): string {
  return `${minus(String(Math.round(share * 100) + 0))} %`;
}

/** "+8 %" of 1.08: how a quantile has moved from its baseline. */
export function signedPercent(ratio: number): string {
  const text = wholePercent(ratio - 1);
  return ratio >= 1 ? `+${text}` : text;
}

/** "99.95 %": a share that somebody chose, with all its digits. */
export function formatExactShare(share: number): string {
  return `${Number((share * 100).toFixed(6))} %`;
}

/** "1,230", "7.74": amounts of requests, whole from 100 on. */
export function formatCount(amount: number): string {
  const rounded = Math.abs(amount) >= 100 ? Math.round(amount) : Number(amount.toPrecision(3));
  return rounded.toLocaleString('en-US');
}

/** "p99", "p99.9". */
export function quantileName(q: number): string {
  return `p${Number((q * 100).toFixed(4))}`;
}

/** Stands before a quantile that lies beyond the last request that ended: only a lower bound is known. */
export const boundPrefix = (isAtLeast: boolean) => (isAtLeast ? 'at least ' : '');

/**
 * "4.8 %", "0.021 %", "95.6 %": two digits, three from 90 % on. Never 0 or 100 % for what only rounds to it:
 * one failure of 100,000 is why somebody looks.
 */
export function formatShare(share: number): string {
  const percent = share * 100;
  const size = Math.abs(percent);
  if (size > 0 && size < 0.00005) return percent < 0 ? '> −0.0001 %' : '< 0.0001 %';
  if (size >= 99.95 && size < 100) return percent < 0 ? '< −99.9 %' : '> 99.9 %';
  const digits = size >= 90 ? 3 : 2;
  const rounded = size >= 100 ? Math.round(percent) : Number(percent.toPrecision(digits));
  return `${minus(String(rounded))} %`;
}

/** "51/s", "0.84/s"; lower rates per minute, "12/min", or per hour, "3/h". */
export function formatPerSecond(perSecond: number): string {
  if (perSecond === 0) return '0/s';
  const [value, unit] =
    perSecond >= 0.5
      ? [perSecond, 's']
      : perSecond * 60 >= 0.5
        ? [perSecond * 60, 'min']
        : [perSecond * 3600, 'h'];
  return `${Number(value.toPrecision(value >= 100 ? 3 : 2)).toLocaleString('en-US')}/${unit}`;
}

/** "45 s", "12 min", "3 h 20 min", "2 d 3 h", "7 d". */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  const [whole, rest] =
    hours < 48
      ? [`${hours} h`, `${minutes % 60} min`]
      : [`${Math.floor(hours / 24)} d`, `${hours % 24} h`];
  return rest.startsWith('0 ') ? whole : `${whole} ${rest}`;
}

/** Time from one moment to another, beside both: "12 min", "15 min 30 s", "3 h 20 min". */
export function lastedText(from: string, to: string): string {
  const ms = Date.parse(to) - Date.parse(from);
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120 || seconds >= 3600 || seconds % 60 === 0) return durationText(ms);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** "512", "61.0", "4.70": three digits, for a column. A value that rounds to zero is "< 0.01". */
export function threeDigits(value: number): string {
  const size = Math.abs(value);
  if (value === 0) return '0';
  if (size >= 99.95) return minus(grouped.format(value));
  if (size < unseen) return value < 0 ? '> −0.01' : '< 0.01';
  return minus(value.toFixed(size >= 9.995 ? 1 : 2));
}

/** "512", "61", "4.7": three digits without zeros at the end, for a sentence. */
export function decimal(value: number): string {
  const text = threeDigits(value);
  return text.includes('.') && !/[<>]/.test(text) ? text.replace(/\.?0+$/, '') : text;
}

function minus(text: string): string {
  return text.replace('-', '−');
}
