/** A plain event as a common producer writes it: eight stages, every default dimension. */
export const canonicalEvent =
  '{"ts":1789000000123,"model":"ranker","version":"2026-11-01","request_type":"search",' +
  '"region":"eu-west-1","host":"p7","status":"ok","cold_start":false,"stages_ms":{"ingress":1.2,' +
  '"queue":6.4,"parse":0.8,"features":14.9,"preprocess":3.1,"forward":51.7,"postprocess":2.2,' +
  '"egress":1.9}}';
