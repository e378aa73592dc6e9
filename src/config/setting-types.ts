import { z } from 'zod';
import {
  type AttributeName,
  attributeKeyPattern,
  attributePrefix,
  attributeRule,
  dimensions,
  isAttributeName,
} from '../base/dimensions.ts';
import { facets } from '../base/facets.ts';
import { hostPort, hostPortPattern } from '../base/host-port.ts';
import { hostRefusal } from '../base/network/address-guard.ts';
import { closest } from './closest.ts';
import { durationPattern, formatDuration, parseDuration } from './duration.ts';

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

/** Name of an own dimension or facet. */
export const ownName = z.templateLiteral([attributePrefix, z.string().regex(attributeKeyPattern)]);

/** Name of a dimension, of an own one too, in what tailmark itself writes. */
export const dimensionName = z.union([z.enum(dimensions), ownName]);

/** Name of a facet, likewise. */
export const facetName = z.union([z.enum(facets), ownName]);

/** One of some names, or that of an own dimension or facet. */
export function nameOrOwn<Known extends string>(known: readonly Known[]) {
  const form = `one of ${known.join(', ')}, or ${attributePrefix}NAME`;
  const isName = (name: string): name is Known | AttributeName =>
    known.some((each) => each === name) || isAttributeName(name);
  return z
    .string()
    .meta({ form })
    .transform((name, context): Known | AttributeName => {
      if (isName(name)) return name;
      const near = closest(name, known);
      const params = near === undefined ? {} : { params: { hint: `Did you mean ${near}?` } };
      const rule = name.startsWith(attributePrefix) ? attributeRule : `be ${form}`;
      context.issues.push({ code: 'custom', message: `must ${rule}`, input: name, ...params });
      return z.NEVER;
    });
}

/** Name of a Kafka topic. */
export const topicName = z
  .string()
  .regex(/^[a-zA-Z0-9._-]{1,249}$/, 'must be a Kafka topic name: letters, digits, ".", "_", "-"')
  .meta({ form: 'a Kafka topic name of letters, digits, ".", "_" and "-"' });
/**
 * `host:port`.
 *
 * @param examplePort stands in hints.
 */
export function hostAndPort(examplePort: number) {
  return z
    .string()
    .regex(hostPortPattern, { error: 'must be host:port', abort: true })
    .refine((text) => hostPort(text) !== undefined, {
      error: 'must be host:port, with a port up to 65535; an IPv6 address stands in brackets',
    })
    .meta({ form: 'host:port', examplePort });
}
/** An http or https URL. */
export const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .meta({ form: 'an http or https URL' });

/** Detects a login in a URL: before its host, or in its query. */
export function holdsLogin(url: string): boolean {
  if (!URL.canParse(url)) return url.includes('@');
  const { username, password, searchParams } = new URL(url);
  if (username !== '' || password !== '') return true;
  return [...searchParams.keys()].some((name) => /user|pass|token|key|secret|auth/i.test(name));
}

/** Refuses what must not be connected to: the guard of deliveries, for the hosts that the configuration names. */
function refuseHost(host: string | undefined, context: z.RefinementCtx): void {
  const refusal = host === undefined ? undefined : hostRefusal(host);
  if (refusal === undefined) return;
  context.addIssue({
    code: 'custom',
    message: 'must not lead to a link-local or cloud metadata address',
    params: {
      found: refusal.replace(/: refused$/, ''),
      hint: 'Such addresses give away credentials of the machine. Private and loopback ones are allowed.',
    },
  });
}

/** Address of a receiver: any http or https URL but link-local and metadata ones. */
export const receiverUrl = httpUrl
  .superRefine((text, context) =>
    refuseHost(URL.canParse(text) ? new URL(text).hostname : undefined, context),
  )
  .meta({ form: 'an http or https URL' });

/** Mail server: any host and port but link-local and metadata ones. */
export const mailServer = hostAndPort(587)
  .superRefine((text, context) => refuseHost(hostPort(text)?.host, context))
  .meta({ form: 'host:port', examplePort: 587 });

/** The required form of a mail address, in words. */
export const mailForm = 'an e-mail address';
/** Words of a name: what neither RFC 5322 nor the list of recipients gives a meaning of its own. */
const atoms = String.raw`[^\s@<>()[\]\\,;:".]+(?:\.[^\s@<>()[\]\\,;:".]+)*`;
const quoted = String.raw`"(?:[^"\\]|\\.)*"`;
const literal = String.raw`\[[\da-zA-Z:.]+\]`;
const mailPattern = new RegExp(`^(?:${atoms}|${quoted})@(?:${atoms}|${literal})$`);

/**
 * A mail address as SMTP takes it (RFC 5321): `z.email` refuses those of an intranet, such as `root@localhost` and
 * `ops@[10.0.0.5]`.
 */
export const mailAddress = z
  .string()
  .max(254)
  .regex(mailPattern, { error: `must be ${mailForm}` })
  .refine((text) => !/\p{Cc}/u.test(text), 'must have no control characters')
  .meta({ form: mailForm, holdsNoLogin: true });

/** Reports each topic of a list that an earlier entry names too. */
export function checkNamedOnce(topics: readonly string[], context: z.RefinementCtx): void {
  for (const [index, topic] of topics.entries()) {
    const first = topics.indexOf(topic);
    if (first === index) continue;
    const params = { found: `${topic} stands at [${first}] too` };
    context.addIssue({ code: 'custom', path: [index], message: 'must be named once', params });
  }
}
