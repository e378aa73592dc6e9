import { OperatorError } from '../../base/operator-error.ts';
import { objectOf, parsed } from '../../formats/loose-json.ts';
import { avroContainer } from '../avro/avro-container.ts';
import type { FileFormat } from '../file-format.ts';
import { cloudevents, envoy, istio, litellm, nginx } from '../json/preset-formats.ts';
import { aiperf } from '../load-tests/aiperf.ts';
import { jmeterCsv } from '../load-tests/jmeter-csv.ts';
import { jmeterXml } from '../load-tests/jmeter-xml.ts';
import { k6 } from '../load-tests/k6.ts';
import { llmperf } from '../load-tests/llmperf.ts';
import { locust } from '../load-tests/locust.ts';
import { sglangBench } from '../load-tests/sglang-bench.ts';
import { awsLambda } from '../servers/aws-lambda.ts';
import { onnxruntime } from '../servers/onnxruntime.ts';
import { rayServe } from '../servers/ray-serve.ts';
import { torchserve } from '../servers/torchserve.ts';
import { triton } from '../servers/triton.ts';
import { langfuse } from '../spans/langfuse.ts';
import { jaegerUi, otlpJson, vercelAi } from '../spans/span-formats.ts';
import { zipkinJson } from '../spans/zipkin-json.ts';
import type { OpenedInput } from './open-input.ts';

/** Every format that `tailmark convert` reads, in the order of its help. */
export const fileFormats: readonly FileFormat[] = [
  otlpJson,
  jaegerUi,
  vercelAi,
  langfuse,
  zipkinJson,
  k6,
  locust,
  jmeterCsv,
  jmeterXml,
  aiperf,
  sglangBench,
  llmperf,
  triton,
  torchserve,
  rayServe,
  onnxruntime,
  awsLambda,
  litellm,
  envoy,
  istio,
  nginx,
  cloudevents,
  avroContainer,
];

export interface ChosenFormat {
  readonly format: FileFormat;
  /** The sign of this format; undefined where the operator named it. */
  readonly because: string | undefined;
}

/**
 * Chooses the format of files: the named one, or for `auto` the one that recognises the first file.
 *
 * @throws OperatorError for an unknown name, and where none or several formats recognise the file.
 */
export function chooseFormat(name: string, first: OpenedInput): ChosenFormat {
  if (name !== 'auto') {
    const format = fileFormats.find((each) => each.name === name);
    if (format !== undefined) return { format, because: undefined };
    throw cannotChoose(`--format must be auto or a known format: it is ${JSON.stringify(name)}`);
  }
  const found = fileFormats.flatMap((format) => {
    const because = format.recognise(first.head, first.name);
    return because === undefined ? [] : [{ format, because }];
  });
  const [only, second] = found;
  if (only === undefined) {
    if (holdsTimingEvents(first.head)) throw needsNoConversion(first.name);
    throw cannotChoose(`${first.name} must be of a format that can be recognised: it is of none`);
  }
  if (second !== undefined) {
    const each = found.map(({ format, because }) => `${format.name} (${because})`).join(', ');
    throw cannotChoose(`${first.name} must be recognised as one format: it looks like ${each}`);
  }
  return only;
}

/** True if the first line is a timing event, which no format makes of another one. */
function holdsTimingEvents(head: string): boolean {
  const [line = ''] = head.trimStart().split('\n', 1);
  const event = objectOf(parsed(line));
  const has = (key: string) => event !== undefined && Object.hasOwn(event, key);
  return has('ts') && has('model') && (has('total_ms') || has('stages_ms'));
}

function needsNoConversion(name: string): OperatorError {
  const problem = `${name} must be of another format: it holds timing events already`;
  return new OperatorError('TAILMARK_USAGE', `Cannot convert: ${problem}`, {
    hint: 'Send them by tailmark replay FILE, or print their tails by tailmark tails --input FILE.',
  });
}

function cannotChoose(problem: string): OperatorError {
  const names = fileFormats.map(({ name }) => name).join(', ');
  return new OperatorError('TAILMARK_USAGE', `Cannot convert: ${problem}`, {
    hint: `Name the format by --format: ${names}. For JSON or Avro of your own give --mapping FILE.`,
  });
}
