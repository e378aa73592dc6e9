import type { TimingEventJson } from './timing-event-json.ts';

/**
 * The event as one line of JSON without its end, keys in the order of the contract. Strings are
 * written as JSON.stringify would; those that need no escape, which is nearly all, at no cost.
 */
export function encodeEvent(event: TimingEventJson): string {
  let text =
    `{"ts":${event.ts},"model":${quote(event.model)},"version":${quote(event.version)}` +
    `,"request_type":${quote(event.request_type)},"region":${quote(event.region)}` +
    `,"service":${quote(event.service)},"host":${quote(event.host)},"id":${quote(event.id)}` +
    `,"trace_id":${quote(event.trace_id)},"status":"${event.status}"` +
    `,"cold_start":${event.cold_start}`;
  if (event.cache_hit !== undefined) text += `,"cache_hit":${event.cache_hit}`;
  text +=
    `,"batch_size":${event.batch_size},"request_bytes":${event.request_bytes}` +
    `,"response_bytes":${event.response_bytes}`;
  if (event.input_tokens !== undefined) text += `,"input_tokens":${event.input_tokens}`;
  if (event.output_tokens !== undefined) text += `,"output_tokens":${event.output_tokens}`;
  text +=
    `,"concurrency":${event.concurrency},"queue_depth":${event.queue_depth}` +
    `,"total_ms":${event.total_ms},"stages_ms":{`;
  let comma = '';
  for (const stage in event.stages_ms) {
    text += `${comma}${quote(stage)}:${event.stages_ms[stage]}`;
    comma = ',';
  }
  return `${text}}}`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes exactly these.
const special = /["\\\u0000-\u001f\ud800-\udfff]/;

function quote(text: string): string {
  return special.test(text) ? JSON.stringify(text) : `"${text}"`;
}
