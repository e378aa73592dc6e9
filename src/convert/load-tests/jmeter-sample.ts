import { epochMsOf } from '../../decode/epoch-ms-of.ts';
import type { ConvertOptions } from '../file-format.ts';
import type { FieldReader } from './field-reader.ts';
import { failureStatus, modelOfLabel } from './labels.ts';

/** Names of the fields of a sample: CSV and XML have different ones. */
type SampleNames = Readonly<
  Record<
    | ('ts' | 'total' | 'label' | 'code' | 'message')
    | ('success' | 'received' | 'sent' | 'latency' | 'connect' | 'samples'),
    string
  >
>;

/** A time by a format such as `yyyy/MM/dd HH:mm:ss.SSS`, which the option `timestamp_format` asks for. */
const dateTime =
  /^(\d{4})[/-](\d\d)[/-](\d\d)[ T](\d\d:\d\d:\d\d)(?:[.,](\d{1,3}))?(Z|[+-]\d\d:\d\d)?$/;

/** Epoch milliseconds; a date and time without a zone is taken as UTC. */
function tsOf(fields: FieldReader, name: string): number {
  const [found, year, month, day, time, fraction = '0', zone = 'Z'] =
    dateTime.exec(fields.text(name) ?? '') ?? [];
  if (found === undefined) return fields.number(name, 'bad_ts');
  const ms = epochMsOf(`${year}-${month}-${day}T${time}.${fraction}${zone}`);
  if (Number.isNaN(ms)) fields.fail('bad_ts', name, 'be a time that there is');
  return ms;
}

/** True if a sample succeeded; where no field says it, its code decides, as in JMeter itself. */
function successOf(fields: FieldReader, names: SampleNames): boolean {
  const success = fields.text(names.success)?.toLowerCase();
  const code = fields.text(names.code);
  if (success === undefined && code !== undefined) return /^[23]\d\d$/.test(code);
  if (success !== 'true' && success !== 'false') {
    fields.fail('bad_status', names.success, 'be true or false');
  }
  return success === 'true';
}

/** Timing event of a sample; undefined where a field has a problem, which the reader keeps. */
export function sampleDraft(fields: FieldReader, names: SampleNames, options: ConvertOptions) {
  const ts = tsOf(fields, names.ts);
  const total_ms = fields.number(names.total, 'bad_duration');
  const isOk = successOf(fields, names);
  const samples = fields.optionalNumber(names.samples, 'bad_field') ?? 1;
  if (samples > 1) {
    fields.fail('bad_duration', names.samples, 'be 1, as the sum of several has the time of none');
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
    status: isOk ? 'ok' : failure,
    ...(response_bytes !== undefined && { response_bytes }),
    ...(request_bytes !== undefined && { request_bytes }),
    total_ms,
    stages_ms: {
      ...(connect !== undefined && { connect }),
      ...(first_byte !== undefined && { first_byte }),
    },
  };
}
