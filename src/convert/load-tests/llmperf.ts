import type { DraftSink } from '../../formats/format-reader.ts';
import { objectOf, parsed } from '../../formats/loose-json.ts';
import { type FileFormat, type InputFile, recognisedByKeys } from '../file-format.ts';
import { jsonObjects } from '../json-objects.ts';
import { requiredModel } from '../required-options.ts';
import { type BackToBack, backToBack } from './back-to-back.ts';
import { FieldReader } from './field-reader.ts';
import { originOf } from './json-lines.ts';
import { failureStatus } from './labels.ts';

/** Longest response that is read. */
const maxResponseBytes = 1024 * 1024;

/** Values that the file lacks. */
interface Given {
  readonly model: string;
  readonly clock: BackToBack;
}

function convertResponse(number: number, text: string, given: Given, sink: DraftSink): void {
  const origin = originOf(() => `[${text}]`);
  const response = objectOf(parsed(text));
  if (response === undefined) {
    const detail = `Response ${number} must be a JSON object: it begins with ${JSON.stringify(text.slice(0, 40))}`;
    sink.reject('invalid_json', detail, origin);
    return;
  }
  const fields = new FieldReader(`Response ${number}`, (name) => response[name]);
  const total_ms = fields.number('end_to_end_latency_s', 'bad_duration') * 1e3;
  const firstSeconds = fields.optionalNumber('ttft_s', 'bad_duration');
  const input_tokens = fields.optionalNumber('number_input_tokens', 'bad_field');
  const output_tokens = fields.optionalNumber('number_output_tokens', 'bad_field');
  const { problem } = fields;
  if (problem !== undefined) {
    sink.reject(problem.reason, problem.detail, origin);
    return;
  }
  const code = response.error_code;
  const failed = code !== undefined && code !== null;
  const hasFirst = firstSeconds !== undefined && !(failed && firstSeconds === 0);
  sink.draft(
    {
      ts: given.clock.start(total_ms),
      model: given.model,
      status: failed ? failureStatus(String(code), fields.text('error_msg')) : 'ok',
      ...(input_tokens !== undefined && { input_tokens }),
      ...(output_tokens !== undefined && { output_tokens }),
      total_ms,
      stages_ms: { ...(hasFirst && { first_token: firstSeconds * 1e3 }) },
    },
    origin,
  );
}

async function convertFile(file: InputFile, given: Given, sink: DraftSink) {
  for await (const { number, text, isWhole } of jsonObjects(file.open(), maxResponseBytes)) {
    if (isWhole) convertResponse(number, text, given, sink);
    else {
      const detail = `Response ${number} must be complete and at most 1 MiB long: it is not`;
      sink.reject('invalid_json', detail, originOf(text));
    }
  }
}

/**
 * Responses of llmperf (`*_individual_responses.json`): an array of objects, in seconds. The file has no
 * times and no model: requests start one after another from `--start`, each at the end of the one before.
 */
export const llmperf: FileFormat = {
  name: 'llmperf',
  what: 'llmperf: *_individual_responses.json (needs --model and --start)',
  recognise: recognisedByKeys('end_to_end_latency_s', 'ttft_s'),
  async convert(files, options, sink) {
    const model = requiredModel('llmperf', options);
    const given = { model, clock: backToBack('llmperf', options) };
    for (const file of files) await convertFile(file, given, sink);
  },
};
