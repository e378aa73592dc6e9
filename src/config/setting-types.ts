import { z } from 'zod';
import { hostPort, hostPortPattern } from '../base/host-port.ts';
import { durationPattern, formatDuration, parseDuration } from './duration.ts';

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** A duration without a default: text in the file, milliseconds in the program. */
export function requiredDuration(minMs: number, maxMs: number) {
  return z
    .string()
    .regex(durationPattern, 'must be a number and a unit: 500ms, 10s, 5m, 24h, 7d')
    .transform((text) => parseDuration(text) as number)
    .refine((ms) => ms >= minMs && ms <= maxMs, {
      error: `must lie between ${formatDuration(minMs)} and ${formatDuration(maxMs)}`,
    })
    .meta({ duration: { minMs, maxMs } });
}

/** A duration with a default. */
export function duration(byDefault: string, minMs: number, maxMs: number) {
  return requiredDuration(minMs, maxMs).prefault(byDefault);
}

/** A whole number with a default. */
export function whole(byDefault: number, min: number, max: number) {
  return z.int().min(min).max(max).default(byDefault);
}

/** A factor by which something must grow. */
export function ratio(byDefault: number, min = 1) {
  return z.number().min(min).default(byDefault);
}

/** A part of all, above 0. */
export function share(byDefault: number) {
  return z.number().gt(0).max(1).default(byDefault);
}

/** Name of a Kafka topic. */
export const topicName = z
  .string()
  .regex(/^[a-zA-Z0-9._-]{1,249}$/, 'must be a Kafka topic name: letters, digits, ".", "_", "-"')
  .meta({ form: 'a Kafka topic name of letters, digits, ".", "_" and "-"' });
/** `host:port`. */
export const hostAndPort = z
  .string()
  .regex(hostPortPattern, { error: 'must be host:port', abort: true })
  .refine((text) => hostPort(text) !== undefined, {
    error: 'must be host:port, with a port up to 65535; an IPv6 address stands in brackets',
  })
  .meta({ form: 'host:port' });
/** An http or https URL. */
export const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .meta({ form: 'an http or https URL' });
