import type { DraftSink, Origin } from '../../formats/format-reader.ts';
import { objectOf, parsed, textOf } from '../../formats/loose-json.ts';
import type { FileFormat } from '../file-format.ts';
import { jsonValues } from '../json-values.ts';
import { eventOfInvocation } from './lambda/invocation-event.ts';
import { type LambdaLine, lambdaLineOf } from './lambda/lambda-line.ts';
import { Sandbox } from './lambda/sandbox.ts';

/** Beginning of a line that cannot be inside another batch. */
const BATCH_START = '{"messageType"';
/** Log streams whose last lines are remembered. */
const MAX_STREAMS = 10_000;

/** The place between two batches on one line, as Firehose writes them. No text has this. */
const betweenBatches = /(?<=\})\s*(?=\{"messageType")/;

/** Stream of a log group that functions share: day, name of the function, version, instance. */
const sharedStream = /^\d{4}\/\d\d\/\d\d\/([^[]+)\[/;

/**
 * AWS Lambda by its CloudWatch Logs subscription: one object a batch of lines. An invocation is its REPORT
 * line, or its `platform.report` where the function logs JSON. A request that is tried again comes under its
 * id again: each attempt is an event.
 *
 * A request is cold that waited for its sandbox to come up. Init Duration, or Restore Duration with SnapStart,
 * is not in Duration, so the total is both, and the request starts that much before its START line. Provisioned
 * concurrency, and a sandbox that came up well before its first request, made nobody wait. An initialisation
 * that broke off after 10 s is repeated within the first invocation.
 *
 * Without START, the start is the REPORT line's time less the total. A timeout is known by a separate line,
 * or by Status in REPORT. Memory: the open invocations of the last 10,000 log streams.
 */
export const awsLambda: FileFormat = {
  name: 'aws_lambda',
  what: 'AWS Lambda, batches of a CloudWatch Logs subscription',
  recognise(head) {
    if (!/"logGroup"\s*:/.test(head) || !/"logEvents"\s*:/.test(head)) return undefined;
    return 'objects with logGroup and logEvents';
  },
  async convert(files, options, sink) {
    const sandboxes = new Sandboxes();
    for (const file of files) {
      for await (const text of jsonValues(file.open(), BATCH_START)) {
        for (const part of (text ?? '').split(betweenBatches)) {
          const origin = { bytes: () => Buffer.from(part) };
          const batch = objectOf(parsed(part));
          if (batch === undefined) {
            const found = text === undefined ? 'it is longer than 256 MiB' : 'it is not JSON';
            sink.reject('invalid_json', `A batch of ${file.name} must be JSON: ${found}`, origin);
          } else {
            convertBatch(batch, { name: file.name, model: options.model, sandboxes, sink, origin });
          }
        }
      }
    }
  },
};

interface BatchContext {
  /** Name of the file. */
  readonly name: string;
  readonly model: string | undefined;
  readonly sandboxes: Sandboxes;
  readonly sink: DraftSink;
  readonly origin: Origin;
}

/** Sandboxes by their log stream, the least recently seen forgotten beyond a limit. */
class Sandboxes {
  readonly #byStream = new Map<string, Sandbox>();

  /** @param stream undefined: one of its own. */
  of(group: string, stream: string | undefined): Sandbox {
    if (stream === undefined) return new Sandbox();
    const key = `${group}\n${stream}`;
    const sandbox = this.#byStream.get(key) ?? new Sandbox();
    this.#byStream.delete(key);
    this.#byStream.set(key, sandbox);
    if (this.#byStream.size > MAX_STREAMS) {
      const [oldest] = this.#byStream.keys();
      this.#byStream.delete(oldest as string);
    }
    return sandbox;
  }
}

function convertBatch(batch: Readonly<Record<string, unknown>>, context: BatchContext): void {
  const { name, model, sandboxes, sink, origin } = context;
  const { messageType, logGroup, logStream, logEvents } = batch;
  // CloudWatch checks now and then whether somebody listens.
  if (messageType === 'CONTROL_MESSAGE') {
    sink.skip(1);
    return;
  }
  if (!Array.isArray(logEvents) || typeof logGroup !== 'string') {
    const detail = `A batch of ${name} must have logGroup, a text, and logEvents, a list`;
    sink.reject('invalid_json', detail, origin);
    return;
  }
  const group = logGroup.slice(logGroup.lastIndexOf('/') + 1);
  const named = sharedStream.exec(textOf(logStream))?.[1] ?? group;
  const stream = typeof logStream === 'string' ? logStream : undefined;
  const sandbox = sandboxes.of(logGroup, stream);
  for (const { line, atMs } of linesOf(logEvents)) sandbox.add(line, atMs);
  for (const invocation of sandbox.takeReported()) {
    const { report } = invocation;
    if (report === undefined) continue;
    const draft = eventOfInvocation(invocation, report, model ?? named);
    if (draft !== undefined) {
      sink.draft(draft, origin);
      continue;
    }
    const detail = `A REPORT line of ${name} must have a Duration in ms: it is ${JSON.stringify(report.shown)}`;
    sink.reject('missing_durations', detail, origin);
  }
}

interface TimedLine {
  readonly line: LambdaLine;
  readonly atMs: number;
}

/** Lambda's own lines of a batch, in the order of their times. */
function linesOf(logEvents: readonly unknown[]): readonly TimedLine[] {
  const lines = logEvents.flatMap((each): readonly TimedLine[] => {
    const { timestamp, message } = objectOf(each) ?? {};
    if (typeof timestamp !== 'number' || typeof message !== 'string') return [];
    // Line breaks and tabs may have been escaped twice.
    const isJson = message.startsWith('{');
    const plain = isJson ? message : message.replaceAll('\\t', '\t').replaceAll('\\n', '\n');
    const line = lambdaLineOf(plain);
    return line === undefined ? [] : [{ line, atMs: timestamp }];
  });
  return lines.sort((a, b) => a.atMs - b.atMs);
}
