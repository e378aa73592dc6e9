import type { ConvertOptions } from '../file-format.ts';
import type { FieldReader } from './field-reader.ts';
import { failureStatus, modelOfLabel } from './labels.ts';

/** What the fields of a sample are called: CSV and XML have names of their own. */
type SampleNames = Readonly<
  Record<
    | ('ts' | 'total' | 'label' | 'code' | 'message')
    | ('success' | 'received' | 'sent' | 'latency' | 'connect'),
    string
  >
>;

/** Timing event of a sample; undefined where a field has a problem, which the reader keeps. */
export function sampleDraft(fields: FieldReader, names: SampleNames, options: ConvertOptions) {
  const ts = fields.number(names.ts, 'bad_ts');
  const total_ms = fields.number(names.total, 'bad_duration');
  const success = fields.text(names.success)?.toLowerCase();
  if (success !== 'true' && success !== 'false') {
    fields.fail('bad_status', names.success, 'be true or false');
  }
  const response_bytes = fields.optionalNumber(names.received, 'bad_field');
  const request_bytes = fields.optionalNumber(names.sent, 'bad_field');
  const connect = fields.optionalNumber(names.connect, 'bad_duration');
  const first_byte = fields.optionalNumber(names.latency, 'bad_duration');
  const label = fields.text(names.label);
  const code = fields.text(names.code);
  // JMeter writes what Java threw into the code: `Non HTTP response code: java.net.SocketTimeoutException`.
  const failure = failureStatus(code, `${code ?? ''} ${fields.text(names.message) ?? ''}`);
  if (fields.problem !== undefined) return undefined;
  return {
    ts,
    model: options.model ?? (label === undefined ? undefined : modelOfLabel(label)),
    status: success === 'true' ? 'ok' : failure,
    ...(response_bytes !== undefined && { response_bytes }),
    ...(request_bytes !== undefined && { request_bytes }),
    total_ms,
    stages_ms: {
      ...(connect !== undefined && { connect }),
      ...(first_byte !== undefined && { first_byte }),
    },
  };
}
