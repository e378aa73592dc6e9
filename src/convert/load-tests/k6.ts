import type { Status } from '../../base/statuses.ts';
import { epochMsOf } from '../../decode/epoch-ms-of.ts';
import type { DraftSink } from '../../formats/format-reader.ts';
import { objectOf } from '../../formats/loose-json.ts';
import { type ConvertOptions, eachFile, type FileFormat, type InputFile } from '../file-format.ts';
import { type Line, lines } from '../lines.ts';
import { statusOfHttp } from '../servers/http-status.ts';
import { csvRecords } from './csv-records.ts';
import { CsvTable } from './csv-table.ts';
import { FieldReader } from './field-reader.ts';
import { jsonLines, originOf } from './json-lines.ts';
import { failureStatus } from './labels.ts';

/** Stages by the metrics of a request. */
const stageNames: Readonly<Record<string, string>> = {
  http_req_blocked: 'blocked',
  http_req_connecting: 'connect',
  http_req_tls_handshaking: 'tls',
  http_req_sending: 'sending',
  http_req_waiting: 'first_byte',
  http_req_receiving: 'receiving',
};
const first = 'http_reqs';
/** A call by gRPC is one point: its duration. */
const call = 'grpc_req_duration';
/** Codes of gRPC that are neither a success nor an error. */
const callStatuses: Readonly<Record<string, Status>> = {
  '0': 'ok',
  '1': 'cancelled',
  '4': 'timeout',
};
const others = new Set(['http_req_duration', 'http_req_failed', ...Object.keys(stageNames)]);
const columns = ['metric_name', 'timestamp', 'metric_value'];
const header = columns.join(',');

/** Value of a metric. Those of a request have the same time and tags, and no common id. */
interface Point {
  readonly line: number;
  readonly metric: string;
  readonly value: unknown;
  /** End of the request. */
  readonly time: string;
  readonly text: string;
  tag(name: string): string | undefined;
}

/** Epoch milliseconds, with a fraction, of a time as k6 writes it: RFC 3339, or digits since 1970. */
function timeMsOf(text: string): number {
  if (!/^\d+$/.test(text)) {
    const beyondMs = /\.\d{3}(\d+)/.exec(text)?.[1] ?? '';
    return epochMsOf(text) + Number(`0.${beyondMs}0`);
  }
  // Seconds unless the option K6_CSV_TIME_FORMAT asks for milliseconds, microseconds or nanoseconds.
  const divisor = [1e-3, 1, 1e3, 1e6][Math.max(0, Math.ceil((text.length - 11) / 3))];
  return divisor === undefined ? Number.NaN : Number(text) / divisor;
}

/** True if a code is a served answer. Before 0.31, and without a callback, k6 says no more. */
function isServed(code: string | undefined): boolean {
  return code === undefined || statusOfHttp(Number(code)) === 'ok';
}

/** Epoch milliseconds of a point; NaN where it has no time, which the reader keeps. */
function endOf({ time }: Point, fields: FieldReader): number {
  const endMs = timeMsOf(time);
  if (Number.isNaN(endMs)) fields.fail('bad_ts', 'time', 'be RFC 3339 or digits since 1970');
  return endMs;
}

function namesOf(point: Point, { model }: ConvertOptions) {
  const request_type = point.tag('name');
  return {
    model: point.tag('model') ?? model,
    ...(request_type !== undefined && { request_type }),
  };
}

/** Puts the points of a request together: they follow each other, and `http_reqs` is the first. */
class Requests {
  readonly #sink: DraftSink;
  readonly #options: ConvertOptions;
  /** Line that makes a request readable on its own: the header of CSV. */
  #preamble = '';
  #open: Point | undefined;
  readonly #points = new Map<string, Point>();

  constructor(options: ConvertOptions, sink: DraftSink) {
    this.#options = options;
    this.#sink = sink;
  }

  set preamble(text: string) {
    this.#preamble = text;
  }

  add(point: Point): void {
    if (point.metric === first) {
      this.end();
      this.#open = point;
    } else if (point.metric === call) {
      this.end();
      this.#convertCall(point);
    } else if (!others.has(point.metric)) {
      this.end();
      this.#sink.skip(1);
    } else if (this.#open?.time === point.time && !this.#points.has(point.metric)) {
      this.#points.set(point.metric, point);
    } else {
      this.end();
      const rule = 'must follow the point http_reqs of its request';
      const detail = `Line ${point.line}: ${point.metric} ${rule}: it follows another`;
      this.#sink.reject('invalid_line', detail, originOf(`${this.#preamble}${point.text}\n`));
    }
  }

  /** Ends the open request, if there is one. */
  end(): void {
    const open = this.#open;
    if (open === undefined) return;
    const texts = [open, ...this.#points.values()].map(({ text }) => text);
    const preamble = this.#preamble;
    const origin = originOf(() => `${preamble}${texts.join('\n')}\n`);
    const fieldOf = (name: string) => this.#points.get(name)?.value;
    const fields = new FieldReader(`Request of line ${open.line}`, (name) =>
      name === 'time' ? open.time : fieldOf(name),
    );
    const total_ms = fields.number('http_req_duration', 'missing_durations');
    const stages_ms: Record<string, number> = {};
    for (const [metric, stage] of Object.entries(stageNames)) {
      const ms = fields.optionalNumber(metric, 'bad_duration');
      if (ms !== undefined) stages_ms[stage] = ms;
    }
    const endMs = endOf(open, fields);
    const failed = fields.optionalNumber('http_req_failed', 'bad_status');
    if (fields.problem === undefined) {
      const ts = Math.floor(endMs - total_ms);
      this.#sink.draft({ ts, ...this.#dimensionsOf(open, failed), total_ms, stages_ms }, origin);
    } else {
      this.#sink.reject(fields.problem.reason, fields.problem.detail, origin);
    }
    this.#open = undefined;
    this.#points.clear();
  }

  #convertCall(point: Point): void {
    const origin = originOf(`${this.#preamble}${point.text}\n`);
    const fields = new FieldReader(`Line ${point.line}`, (name) =>
      name === 'time' ? point.time : point.value,
    );
    const total_ms = fields.number(call, 'bad_duration');
    const endMs = endOf(point, fields);
    if (fields.problem !== undefined) {
      this.#sink.reject(fields.problem.reason, fields.problem.detail, origin);
      return;
    }
    const status = callStatuses[point.tag('status') ?? '0'] ?? 'error';
    const ts = Math.floor(endMs - total_ms);
    this.#sink.draft({ ts, ...namesOf(point, this.#options), status, total_ms }, origin);
  }

  #dimensionsOf(point: Point, failed: number | undefined) {
    const expected = point.tag('expected_response');
    const isExpected =
      expected === undefined ? isServed(point.tag('status')) : expected !== 'false';
    const hasFailed = failed === undefined ? !isExpected : failed > 0;
    const isTimeout = point.tag('error_code') === '1050';
    const failure = failureStatus(point.tag('status'), isTimeout ? 'timeout' : point.tag('error'));
    return { ...namesOf(point, this.#options), status: hasFailed ? failure : 'ok' };
  }
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

async function convertJson(source: AsyncIterable<Line>, requests: Requests, sink: DraftSink) {
  for await (const { number, text, value } of jsonLines(source, sink)) {
    if (value.type === 'Metric') continue;
    const data = objectOf(value.data) ?? {};
    const metric = textOf(value.metric);
    const time = textOf(data.time);
    if (metric === undefined || time === undefined) {
      const name = metric === undefined ? 'metric' : 'data.time';
      const detail = `Line ${number}: ${name} must be a text: it is absent or another`;
      sink.reject('invalid_line', detail, originOf(text));
      continue;
    }
    const tags = objectOf(data.tags) ?? {};
    const tag = (name: string) => textOf(tags[name]);
    requests.add({ line: number, metric, value: data.value, time, text, tag });
  }
}

/** Tags of the column `extra_tags`: `model=ranker&tenant=acme`. */
function extraTag(extra: string | undefined, name: string): string | undefined {
  const pair = extra?.split('&').find((each) => each.startsWith(`${name}=`));
  return textOf(pair?.slice(name.length + 1));
}

async function convertCsv(source: AsyncIterable<Line>, requests: Requests, sink: DraftSink) {
  const headerOf = (cells: readonly string[]) => (cells[0] === columns[0] ? cells : undefined);
  const table = new CsvTable(sink, headerOf, []);
  for await (const record of csvRecords(source)) {
    if (record.cells?.[0] === columns[0]) {
      requests.end();
      requests.preamble = `${record.text}\n`;
    }
    const row = table.row(record);
    if (row === undefined) continue;
    const { fields } = row;
    const tag = (name: string) => fields.text(name) ?? extraTag(fields.text('extra_tags'), name);
    const metric = tag('metric_name') ?? '';
    const [value, time] = [fields.text('metric_value'), fields.text('timestamp') ?? ''];
    requests.add({ line: record.line, metric, value, time, text: record.text, tag });
  }
}

async function convertFile(file: InputFile, options: ConvertOptions, sink: DraftSink) {
  const source = lines(file.open());
  const start = await source.next();
  if (start.done === true) return;
  const all = async function* () {
    yield start.value;
    yield* source;
  };
  const requests = new Requests(options, sink);
  const convert = start.value.text?.startsWith(header) === true ? convertCsv : convertJson;
  await convert(all(), requests, sink);
  requests.end();
}

function recognise(head: string): string | undefined {
  const text = head.replace(/^\ufeff/, '');
  if (text.startsWith(header)) return `header ${header}`;
  const isJson = /^\s*\{/.test(text) && /"type":"(Metric|Point)"/.test(text);
  return isJson && text.includes('"metric":"') ? 'lines with metric and type' : undefined;
}

/**
 * Points that k6 writes with `--out json` or `--out csv`; the file tells which. A request is `http_reqs` and
 * the points after it, or `grpc_req_duration` alone; other metrics are skipped. The time is the end of the request: CSV cuts it to seconds,
 * so a start may be up to a second early. The model is the tag `model`, else `--model`. The total is
 * `http_req_duration`, which `blocked`, `connect` and `tls` precede.
 */
export const k6: FileFormat = {
  name: 'k6',
  what: 'Grafana k6: --out json or --out csv',
  recognise,
  convert: eachFile(convertFile),
};
