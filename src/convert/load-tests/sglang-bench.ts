import type { DraftSink } from '../../formats/format-reader.ts';
import type { JsonObject } from '../../formats/loose-json.ts';
import type { FileFormat, InputFile } from '../file-format.ts';
import { lines } from '../lines.ts';
import { type BackToBack, backToBack } from './back-to-back.ts';
import { FieldReader, shown } from './field-reader.ts';
import { jsonLines, originOf } from './json-lines.ts';
import { failureStatus } from './labels.ts';

const arrays = ['ttfts', 'itls', 'errors', 'input_lens', 'output_lens'] as const;

type Details = Readonly<Record<(typeof arrays)[number], readonly unknown[]>>;

/** The arrays of a run, of one element a request; or what is wrong with them. */
function detailsOf(run: JsonObject, where: string): Details | string {
  const ttfts = run.ttfts;
  if (!Array.isArray(ttfts)) {
    return `${where}: ttfts must be an array, which --output-details writes: it is ${shown(ttfts)}`;
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

/** Sum of the gaps between tokens in seconds; NaN where one of them is no number >= 0. */
function sumOf(gaps: unknown): number {
  if (!Array.isArray(gaps)) return Number.NaN;
  return gaps.reduce((sum: number, gap: unknown) => {
    return typeof gap === 'number' && gap >= 0 ? sum + gap : Number.NaN;
  }, 0);
}

function convertRequest(
  details: Details,
  at: number,
  where: string,
  clock: BackToBack,
  sink: DraftSink,
): void {
  const alone = () =>
    JSON.stringify(Object.fromEntries(arrays.map((name) => [name, [details[name][at]]])));
  const origin = originOf(() => `${alone()}\n`);
  const fields = new FieldReader(`${where}, request ${at + 1}`, (name) =>
    name in details ? details[name as keyof Details][at] : undefined,
  );
  const firstMs = fields.number('ttfts', 'bad_duration') * 1e3;
  const gapsMs = sumOf(details.itls[at]) * 1e3;
  if (Number.isNaN(gapsMs)) fields.fail('bad_duration', 'itls', 'be an array of numbers >= 0');
  const input_tokens = fields.optionalNumber('input_lens', 'bad_field');
  const output_tokens = fields.optionalNumber('output_lens', 'bad_field');
  const { problem } = fields;
  if (problem !== undefined) {
    sink.reject(problem.reason, problem.detail, origin);
    return;
  }
  const error = fields.text('errors');
  const total_ms = firstMs + gapsMs;
  sink.draft(
    {
      ts: clock.start(total_ms),
      model: clock.model,
      status: error === undefined ? 'ok' : failureStatus(undefined, error),
      ...(input_tokens !== undefined && { input_tokens }),
      ...(output_tokens !== undefined && { output_tokens }),
      total_ms,
      stages_ms: { ...((error === undefined || firstMs > 0) && { first_token: firstMs }) },
    },
    origin,
  );
}

async function convertFile(file: InputFile, clock: BackToBack, sink: DraftSink) {
  for await (const { number, text, value } of jsonLines(lines(file.open()), sink)) {
    const details = detailsOf(value, `Line ${number}`);
    if (typeof details === 'string') {
      sink.reject('missing_durations', details, originOf(text));
      continue;
    }
    for (let at = 0; at < details.ttfts.length; at++) {
      convertRequest(details, at, `Line ${number}`, clock, sink);
    }
  }
}

/**
 * Runs of `sglang.bench_serving --output-details`: a line a run, with arrays of one element a request. A
 * total is the time to the first token and the gaps after it; a failed request has 0. The file has no times
 * and no model: requests start one after another from `--start`, each at the end of the one before. A run of
 * more than 16 MiB is rejected.
 */
export const sglangBench: FileFormat = {
  name: 'sglang_bench',
  what: 'SGLang: bench_serving --output-details (needs --model and --start)',
  recognise: (head) =>
    /^\s*\{/.test(head) && head.includes('"mean_ttft_ms"') && head.includes('"max_concurrency"')
      ? 'mean_ttft_ms and max_concurrency'
      : undefined,
  async convert(files, options, sink) {
    const clock = backToBack('sglang_bench', options);
    for (const file of files) await convertFile(file, clock, sink);
  },
};
