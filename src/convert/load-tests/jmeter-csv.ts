import type { DraftSink } from '../../formats/format-reader.ts';
import type { ConvertOptions, FileFormat, InputFile } from '../file-format.ts';
import { lines } from '../lines.ts';
import { csvRecords, maxCsvLineBytes } from './csv-records.ts';
import { CsvTable } from './csv-table.ts';
import type { FieldReader } from './field-reader.ts';
import { failureStatus, modelOfLabel } from './labels.ts';

/** Columns that JMeter 5 writes unless it is told otherwise; JMeter 3 and 4 write them without URL. */
const jmeter5 = [
  ...['timeStamp', 'elapsed', 'label', 'responseCode', 'responseMessage', 'threadName', 'dataType'],
  ...['success', 'failureMessage', 'bytes', 'sentBytes', 'grpThreads', 'allThreads', 'URL'],
  ...['Latency', 'IdleTime', 'Connect'],
];
const jmeter3 = jmeter5.filter((column) => column !== 'URL');

/** Names of the fields in CSV; XML has others. */
const csvNames = {
  ...{ ts: 'timeStamp', total: 'elapsed', label: 'label', code: 'responseCode' },
  ...{ message: 'responseMessage', success: 'success', received: 'bytes', sent: 'sentBytes' },
  ...{ latency: 'Latency', connect: 'Connect' },
};

/** Timing event of a sample; undefined where a field has a problem, which the reader keeps. */
export function sampleDraft(
  fields: FieldReader,
  names: Readonly<Record<keyof typeof csvNames, string>>,
  options: ConvertOptions,
) {
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

async function convertFile(file: InputFile, options: ConvertOptions, sink: DraftSink) {
  const headerOf = (cells: readonly string[]) => (cells.includes('timeStamp') ? cells : undefined);
  const table = new CsvTable(sink, headerOf, [jmeter5, jmeter3]);
  for await (const record of csvRecords(lines(file.open(), maxCsvLineBytes))) {
    const row = table.row(record);
    if (row === undefined) continue;
    const draft = sampleDraft(row.fields, csvNames, options);
    const { problem } = row.fields;
    if (draft !== undefined) sink.draft(draft, row.origin);
    else if (problem !== undefined) sink.reject(problem.reason, problem.detail, row.origin);
  }
}

function recognise(head: string): string | undefined {
  const [first = ''] = head.replace(/^\ufeff/, '').split(/\r?\n/, 1);
  const cells = first.split(',');
  if (cells.includes('timeStamp') && cells.includes('elapsed')) {
    return 'header with timeStamp and elapsed';
  }
  const isSample = /^\d{13},\d+,/.test(first) && /,(true|false),/.test(first);
  const hasColumns = cells.length === jmeter5.length || cells.length === jmeter3.length;
  return isSample && hasColumns ? `${cells.length} fields as JMeter writes them` : undefined;
}

/**
 * Samples that JMeter writes as CSV, with a header or without one. The model is `--model`, else the label; of
 * a label that is a path or an address its last part. `Latency` is the time to the first byte, from the start.
 */
export const jmeterCsv: FileFormat = {
  name: 'jmeter_csv',
  what: 'Apache JMeter: samples as CSV (.jtl, .csv)',
  recognise,
  async convert(files, options, sink) {
    for (const file of files) await convertFile(file, options, sink);
  },
};
