import type { DraftSink } from '../../formats/format-reader.ts';
import { type ConvertOptions, eachFile, type FileFormat, type InputFile } from '../file-format.ts';
import { lines } from '../lines.ts';
import { csvRecords, maxCsvLineBytes } from './csv-records.ts';
import { CsvTable } from './csv-table.ts';
import { originOf } from './json-lines.ts';
import { failureStatus, modelOfLabel } from './labels.ts';

const columns = [
  ...['timestamp', 'request_type', 'name', 'response_time_ms', 'response_length'],
  ...['status_code', 'exception'],
];
const header = columns.slice(0, 4).join(',');
/** First lines of files of `locust --csv`: statistics, their history, and failures. */
const statistics = /^\uFEFF?(?:Type,Name,Request Count|Timestamp,User Count|Method,Name,Error),/;

async function convertFile(file: InputFile, options: ConvertOptions, sink: DraftSink) {
  const table = new CsvTable(sink, (cells) => (cells[0] === 'timestamp' ? cells : undefined), [
    columns,
  ]);
  for await (const record of csvRecords(lines(file.open(), maxCsvLineBytes))) {
    if (record.line === 1 && statistics.test(record.text)) {
      const detail = `${file.name} must hold requests: it has statistics, whose percentiles are rounded`;
      sink.reject('invalid_line', detail, originOf(record.text));
      return;
    }
    const row = table.row(record);
    if (row === undefined) continue;
    const { fields, origin } = row;
    const ts = fields.epochSeconds('timestamp');
    const total_ms = fields.number('response_time_ms', 'bad_duration');
    const response_bytes = fields.optionalNumber('response_length', 'bad_field');
    const name = fields.text('name');
    const exception = fields.text('exception');
    const code = fields.text('status_code');
    if (fields.problem !== undefined) {
      sink.reject(fields.problem.reason, fields.problem.detail, origin);
      continue;
    }
    const draft = {
      ts,
      model: options.model ?? (name === undefined ? undefined : modelOfLabel(name)),
      request_type: fields.text('request_type'),
      status: exception === undefined ? 'ok' : failureStatus(code, exception),
      ...(response_bytes !== undefined && { response_bytes }),
      total_ms,
    };
    sink.draft(draft, origin);
  }
}

/**
 * Requests that Locust's example `csv_request_logger` writes. The time is the start of the request. The model
 * is `--model`, else the last part of the request's name. A request with an exception failed. The statistics
 * of `locust --csv` hold no requests, only rounded percentiles, and cannot be converted.
 */
export const locust: FileFormat = {
  name: 'locust',
  what: 'Locust: requests of its CSV request logger',
  recognise: (head) => {
    if (statistics.test(head)) return 'header of statistics';
    return head.replace(/^\ufeff/, '').startsWith(header) ? `header ${header}` : undefined;
  },
  convert: eachFile(convertFile),
};
