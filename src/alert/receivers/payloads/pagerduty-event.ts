import { createHash } from 'node:crypto';
import type { Severity } from '../../../contract/anomaly-event.ts';
import { dashboardUrlOf, type Message } from '../../message/anomaly-message.ts';
import { cleanText } from '../../message/clean-text.ts';
import type { Link } from '../../message/links.ts';
import type { Form } from '../../receiver.ts';

/** Limits of the Events API v2. */
const limits = {
  bodyBytes: 512_000,
  dedupKeyChars: 255,
  /** Of `source`, `component`, `group`: ours, as the API names none. */
  fieldChars: 255,
} as const;

const client = 'tailmark';

type Details = Readonly<Record<string, string | number>>;

/** An event as `POST /v2/enqueue` accepts it. */
export type PagerDutyEvent = ReturnType<typeof triggerEvent> | ReturnType<typeof resolveEvent>;

/** Opens or updates the alert of a key. */
export function triggerEvent(key: string, severity: Severity, message: Message, form: Form) {
  const { event, links, title } = message;
  const dashboard = dashboardUrlOf(message);
  return {
    event_action: 'trigger' as const,
    dedup_key: dedupKey(key),
    payload: {
      summary: title,
      source: field(event.host) || field(event.model) || client,
      severity,
      timestamp: event.started_at,
      ...(field(event.model) !== '' && { component: field(event.model) }),
      group: field(event.group_key),
      class: event.kind,
      custom_details: detailsOf(message, form),
    },
    links: links.map(linkOf),
    client,
    ...(dashboard !== undefined && { client_url: dashboard }),
  };
}

/** Closes the alert of a key. */
export function resolveEvent(key: string) {
  return { event_action: 'resolve' as const, dedup_key: dedupKey(key) };
}

/** A version of a model that is seen for the first time. */
export interface NewVersion {
  readonly model: string;
  readonly version: string;
  readonly firstSeenMs: number;
  readonly links?: readonly Link[];
}

/** A change event as `POST /v2/change/enqueue` accepts it: shown beside incidents, notifies nobody. */
export function changeEvent({ model, version, firstSeenMs, links = [] }: NewVersion) {
  const [ofModel, newVersion] = [cleanText(model, 200), cleanText(version, 200)];
  return {
    payload: {
      summary: `Version ${newVersion} of model ${ofModel} seen for the first time`,
      source: client,
      timestamp: new Date(firstSeenMs).toISOString(),
      custom_details: { model: ofModel, version: newVersion },
    },
    links: links.map(linkOf),
  };
}

/** Encodes an event within the limit of a body, the last of its details left out first. */
export function encodeEvent(routingKey: string, event: PagerDutyEvent): string {
  const encode = (body: object) => JSON.stringify({ routing_key: routingKey, ...body });
  let body = encode(event);
  if (event.event_action !== 'trigger') return body;
  const details = Object.entries(event.payload.custom_details);
  while (Buffer.byteLength(body) > limits.bodyBytes && details.pop() !== undefined) {
    const payload = { ...event.payload, custom_details: Object.fromEntries(details) };
    body = encode({ ...event, payload });
  }
  return body;
}

/** The most important first. */
function detailsOf({ event, shown, facts, sql }: Message, form: Form): Details {
  const texts = Object.fromEntries(facts.map(({ label, text }) => [label, text]));
  if (form === 'minimal') return texts;
  const { id, revision } = event;
  const { observed_ms, baseline_ms, ratio, requests, stage, rate } = shown;
  return {
    ...texts,
    id,
    revision,
    stage,
    ...{ observed_ms, baseline_ms, ratio, requests },
    ...(rate && { rate: rate.observed, rate_baseline: rate.baseline, rate_unit: rate.unit }),
    ...(sql !== '' && { sql }),
  };
}

/** A key within its limit; a longer one by its digest, so that two never become the same. */
function dedupKey(key: string): string {
  const clean = cleanText(key, Number.MAX_SAFE_INTEGER);
  if (clean === key && key.length <= limits.dedupKeyChars) return key;
  const digest = createHash('sha256').update(key).digest('hex').slice(0, 32);
  return `${cleanText(key, 200)}/${digest}`;
}

function field(text: string): string {
  return cleanText(text, limits.fieldChars);
}

function linkOf({ label, url }: Link) {
  return { href: url, text: label };
}
