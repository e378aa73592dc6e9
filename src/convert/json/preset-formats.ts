import { presetFormat } from './mapped-format.ts';

/** LiteLLM's standard logging payload. */
export const litellm = presetFormat('litellm', 'LiteLLM: standard logging payloads, JSON lines', [
  'litellm_call_id',
  'startTime',
  'endTime',
]);

/** Envoy's access log with fine durations; config/presets/envoy.yaml has the format to configure. */
export const envoy = presetFormat('envoy', 'Envoy: JSON access log with total_ns', [
  'total_ns',
  'response_flags',
  'start_time',
]);

/** Istio's access log as JSON. */
export const istio = presetFormat('istio', "Istio: Envoy's access log in Istio's default JSON", [
  'upstream_service_time',
  'response_flags',
  'start_time',
]);

/** nginx' access log; config/presets/nginx.yaml has the format to configure. */
export const nginx = presetFormat('nginx', 'nginx: JSON access log with msec and request_time', [
  'msec',
  'request_time',
  'status',
]);

/** CloudEvents in the form of an envelope. */
export const cloudevents = presetFormat('cloudevents', 'CloudEvents 1.0: JSON lines', [
  'specversion',
  'type',
  'source',
]);
