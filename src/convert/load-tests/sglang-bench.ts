import type { DraftSink } from '../../formats/format-reader.ts';
import { type JsonObject, notJson, objectOf, parsed } from '../../formats/loose-json.ts';
import { toNanosecond } from '../../formats/span.ts';
import type { ConvertOptions, FileFormat, InputFile } from '../file-format.ts';
import { jsonValues, tooLongValue } from '../json-values.ts';
import { requiredModel } from '../required-options.ts';
import { type BackToBack, backToBack } from './back-to-back.ts';
import { FieldReader, shown } from './field-reader.ts';
import { originOf } from './json-lines.ts';
import { failureStatus } from './labels.ts';

const arrays = ['ttfts', 'itls', 'errors', 'input_lens', 'output_lens'] as const;

type Details = Readonly<Record<(typeof arrays)[number], readonly unknown[]>>;

/** The arrays of a run, of one element a request; or what is wrong with them. */
function detailsOf(run: JsonObject, where: string): Details | string {
  const ttfts = run.ttfts;
  if (!Array.isArray(ttfts)) {
    const flags = '--output-details of SGLang or --save-detailed of vLLM';
    return `${where}: ttfts must be an array, which ${flags} writes: it is ${shown(ttfts)}`;
  }
  const details: Partial<Record<keyof Details, readonly unknown[]>> = {};
  for (const name of arrays) {
    const values = run[name];
    if (!Array.isArray(values) || values.length !== ttfts.length) {
      const found = Array.isArray(values) ? `it has ${values.length}` : `it is ${shown(values)}`;
      return `${where}: ${name} must be an array of ${ttfts.length} elements, as ttfts is: ${found}`;
    }
    details[name] = values;
  }
  return details as Details;
}

/** Longest part of a run that cannot be read which goes into a dead letter. */
const maxCharsKept = 64 * 1024;

/** Numbers as Python writes them and JSON has not: SGLang's default rate of requests is one. */
const notFinite = /([:[,]\s*)(?:NaN|-?Infinity)(?=\s*[,}\]])/g;

/** A run of the benchmark: its number in the file, and what it says. */
class Run {
  readonly #where: string;
  readonly #details: Details;
  readonly #model: string;
  readonly #clock: BackToBack;
  /** Milliseconds from the first request to each; undefined where the run does not say them. */
  readonly #sinceMs: readonly number[] | undefined;

  constructor(where: string, run: JsonObject, details: Details, model: string, clock: BackToBack) {
    this.#where = where;
    this.#details = details;
    this.#model = model;
    this.#clock = clock;
    this.#sinceMs = sinceFirst(run.start_times, details.ttfts.length);
  }

  convert(sink: DraftSink): void {
    const begin = this.#sinceMs === undefined ? undefined : this.#clock.run();
    const startOf = (at: number, totalMs: number) =>
      begin?.(this.#sinceMs?.[at] ?? 0, totalMs) ?? this.#clock.start(totalMs);
    for (let at = 0; at < this.#details.ttfts.length; at++) this.#convertRequest(at, startOf, sink);
  }

  #convertRequest(
    at: number,
    startOf: (at: number, totalMs: number) => number,
    sink: DraftSink,
  ): void {
    const details = this.#details;
    const alone = () =>
      JSON.stringify(Object.fromEntries(arrays.map((name) => [name, [details[name][at]]])));
    const origin = originOf(() => `${alone()}\n`);
    const fields = new FieldReader(`${this.#where}, request ${at + 1}`, (name) =>
      name in details ? details[name as keyof Details][at] : undefined,
    );
    const firstMs = fields.number('ttfts', 'bad_duration') * 1e3;
    const gaps = fields.numbers('itls', 'bad_duration') ?? [];
    const input_tokens = fields.optionalNumber('input_lens', 'bad_field');
    const output_tokens = fields.optionalNumber('output_lens', 'bad_field');
    const { problem } = fields;
    if (problem !== undefined) {
      sink.reject(problem.reason, problem.detail, origin);
      return;
    }
    const error = fields.text('errors');
    const total_ms = firstMs + gaps.reduce((sum, gap) => sum + gap, 0) * 1e3;
    sink.draft(
      {
        ts: startOf(at, total_ms),
        model: this.#model,
        status: error === undefined ? 'ok' : failureStatus(undefined, error),
        ...(input_tokens !== undefined && { input_tokens }),
        ...(output_tokens !== undefined && { output_tokens }),
        total_ms,
        stages_ms: { ...((error === undefined || firstMs > 0) && { first_token: firstMs }) },
        ...(gaps.length > 0 && { itl_ms: gaps.map((gap) => toNanosecond(gap * 1e3)) }),
      },
      origin,
    );
  }
}

/** vLLM writes when each request started, in seconds of a clock that begins anywhere. */
function sinceFirst(starts: unknown, count: number): readonly number[] | undefined {
  if (!Array.isArray(starts) || starts.length !== count) return undefined;
  if (!starts.every((each): each is number => typeof each === 'number' && each > 0))
    return undefined;
  const first = starts.reduce((least, each) => Math.min(least, each), Number.POSITIVE_INFINITY);
  return starts.map((each) => (each - first) * 1e3);
}

async function convertFile(
  file: InputFile,
  options: ConvertOptions,
  clock: BackToBack,
  sink: DraftSink,
) {
  let number = 0;
  for await (const text of jsonValues(file.open(), '{"')) {
    const value = parsed((text ?? '').replace(notFinite, '$1null'));
    // A sweep of vLLM writes its runs as a list.
    for (const each of Array.isArray(value) ? value : [value]) {
      const where = `Run ${++number}`;
      const kept = originOf((text ?? '').slice(0, maxCharsKept));
      const run = objectOf(each);
      if (run === undefined) {
        const problem = text === undefined ? tooLongValue : notJson;
        sink.reject('invalid_json', `${where}: ${problem}`, kept);
        continue;
      }
      const details = detailsOf(run, where);
      if (typeof details === 'string') {
        sink.reject('missing_durations', details, kept);
        continue;
      }
      const named = typeof run.model_id === 'string' ? run.model_id : undefined;
      const model = requiredModel('sglang_bench', { model: options.model ?? named });
      new Run(where, run, details, model, clock).convert(sink);
    }
  }
}

/**
 * Runs of `sglang.bench_serving --output-details` and of `vllm bench serve --save-detailed`: an object a run,
 * with arrays of one element a request. A total is the time to the first token and the gaps after it, which the
 * event has too; a failed request has 0. The runs have no dates: requests start one after another from `--start`, each at the end of
 * the one before; those of vLLM, which says when each started, at their distance. vLLM names the model. A run
 * of more than 256 MiB is rejected.
 */
export const sglangBench: FileFormat = {
  name: 'sglang_bench',
  what: 'SGLang: bench_serving --output-details; vLLM: bench serve --save-detailed (needs --start)',
  // Both write these before the arrays, which may be of any length.
  recognise: (head) =>
    /^\uFEFF?\s*(?:\[\s*)?\{/.test(head) &&
    /"total_input_tokens"\s*:/.test(head) &&
    /"request_throughput"\s*:/.test(head)
      ? 'total_input_tokens and request_throughput'
      : undefined,
  async convert(files, options, sink) {
    const clock = backToBack('sglang_bench', options);
    for (const file of files) await convertFile(file, options, clock, sink);
  },
};
