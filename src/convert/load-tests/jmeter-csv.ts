import type { DraftSink } from '../../formats/format-reader.ts';
import { type ConvertOptions, eachFile, type FileFormat, type InputFile } from '../file-format.ts';
import { lines } from '../lines.ts';
import { csvRecords, maxCsvLineBytes } from './csv-records.ts';
import { CsvTable } from './csv-table.ts';
import { sampleDraft } from './jmeter-sample.ts';

/** Columns that JMeter 5 writes by default; JMeter 3 and 4 write them without URL. */
const jmeter5 = [
  ...['timeStamp', 'elapsed', 'label', 'responseCode', 'responseMessage', 'threadName', 'dataType'],
  ...['success', 'failureMessage', 'bytes', 'sentBytes', 'grpThreads', 'allThreads', 'URL'],
  ...['Latency', 'IdleTime', 'Connect'],
];
const jmeter3 = jmeter5.filter((column) => column !== 'URL');

/** Names of the fields in CSV. */
const csvNames = {
  ...{ ts: 'timeStamp', total: 'elapsed', label: 'label', code: 'responseCode' },
  ...{ message: 'responseMessage', success: 'success', received: 'bytes', sent: 'sentBytes' },
  ...{ latency: 'Latency', connect: 'Connect', samples: 'SampleCount' },
};

/** The character after the first column, which is the time wherever one is saved. JMeter lets it be any. */
function delimiterOf(firstLine: string): string {
  return /^(?:timeStamp|\d{13})([^\w"])/.exec(firstLine)?.[1] ?? ',';
}

async function convertFile(file: InputFile, options: ConvertOptions, sink: DraftSink) {
  const source = lines(file.open(), maxCsvLineBytes);
  const first = await source.next();
  if (first.done === true) return;
  const all = async function* () {
    yield first.value;
    yield* source;
  };
  const delimiter = delimiterOf(first.value.text ?? '');
  const headerOf = (cells: readonly string[]) => (cells.includes('timeStamp') ? cells : undefined);
  const table = new CsvTable(sink, headerOf, [jmeter5, jmeter3], delimiter);
  for await (const record of csvRecords(all(), delimiter)) {
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
  const cells = first.split(delimiterOf(first));
  if (cells.includes('timeStamp') && cells.includes('elapsed')) {
    return 'header with timeStamp and elapsed';
  }
  const isSample = /^\d{13}([^\w"])\d+\1.*\1(true|false)\1/.test(first);
  const hasColumns = cells.length === jmeter5.length || cells.length === jmeter3.length;
  return isSample && hasColumns ? `${cells.length} fields as JMeter writes them` : undefined;
}

/**
 * Samples that JMeter writes as CSV, with a header or without one, and any delimiter. The model is `--model`, else the label; of
 * a label that is a path or an address its last part. `Latency` is the time to the first byte, from the start.
 */
export const jmeterCsv: FileFormat = {
  name: 'jmeter_csv',
  what: 'Apache JMeter: samples as CSV (.jtl, .csv)',
  recognise,
  convert: eachFile(convertFile),
};
