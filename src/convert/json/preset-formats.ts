import { presetFormat } from './mapped-format.ts';

/** LiteLLM's standard logging payload. */
export const litellm = presetFormat('litellm', 'LiteLLM: standard logging payloads, JSON lines', [
  'call_type',
  'startTime',
  'endTime',
  'completionStartTime',
]);

/** Envoy's access log with fine durations; config/presets/envoy.yaml has the format to configure. */
export const envoy = presetFormat('envoy', 'Envoy: JSON access log with total_ns', [
  'total_ns',
  'response_flags',
  'start_time',
]);

/** Envoy's access log with the fields of its default text, which Istio writes as JSON. */
export const istio = presetFormat(
  'istio',
  "Envoy's access log in its default text; Istio's as text or JSON",
  ['upstream_service_time', 'response_flags', 'start_time'],
);

/** nginx' access log; config/presets/nginx.yaml has the formats to configure. */
export const nginx = presetFormat(
  'nginx',
  'nginx, ingress-nginx: access log with times, as JSON or text',
  ['msec', 'request_time', 'status'],
);

/** CloudEvents in the form of an envelope. */
export const cloudevents = presetFormat('cloudevents', 'CloudEvents 1.0: JSON lines', [
  'specversion',
  'type',
  'source',
]);
