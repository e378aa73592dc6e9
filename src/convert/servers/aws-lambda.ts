import type { DraftSink, EventDraft, Origin } from '../../formats/format-reader.ts';
import { objectOf, parsed } from '../../formats/loose-json.ts';
import type { FileFormat } from '../file-format.ts';
import { jsonValues } from '../json-values.ts';

/** How a line begins that cannot be inside another batch. */
const BATCH_START = '{"messageType"';

/** Line of an invocation, with line breaks and tabs that were escaped twice made plain. */
interface LogEvent {
  readonly timestamp: number;
  readonly message: string;
}

/** What is known of an invocation until its batch ends. */
interface Invocation {
  startMs: number | undefined;
  report: LogEvent | undefined;
  isTimeout: boolean;
}

const requestLine = /^(START|REPORT) RequestId: (\S+)/;
const timeoutLine = /^\S+ (\S+) Task timed out after /;

/**
 * AWS Lambda by its CloudWatch Logs subscription: one object a batch of lines. An invocation is its REPORT
 * line.
 *
 * A cold start's Init Duration is not in Duration, so the total is both, and the request starts that much
 * before its START line. Where START is in an earlier batch, the start is the REPORT line's time less the
 * total. A timeout is known by a line of its own, or by Status in REPORT.
 */
export const awsLambda: FileFormat = {
  name: 'aws_lambda',
  what: 'AWS Lambda, batches of a CloudWatch Logs subscription',
  recognise(head) {
    if (!/"logGroup"\s*:/.test(head) || !/"logEvents"\s*:/.test(head)) return undefined;
    return 'objects with logGroup and logEvents';
  },
  async convert(files, options, sink) {
    for (const file of files) {
      for await (const text of jsonValues(file.open(), BATCH_START)) {
        const origin = { bytes: () => Buffer.from(text ?? '') };
        const batch = objectOf(parsed(text ?? ''));
        if (batch === undefined) {
          const found = text === undefined ? 'it is longer than 256 MiB' : 'it is not JSON';
          sink.reject('invalid_json', `A batch of ${file.name} must be JSON: ${found}`, origin);
        } else {
          convertBatch(batch, file.name, options.model, sink, origin);
        }
      }
    }
  },
};

function convertBatch(
  batch: Readonly<Record<string, unknown>>,
  name: string,
  model: string | undefined,
  sink: DraftSink,
  origin: Origin,
): void {
  const { messageType, logGroup, logEvents } = batch;
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
  const invocations = new Map<string, Invocation>();
  for (const each of logEvents) {
    const event = logEventOf(each);
    if (event !== undefined) note(event, invocations);
  }
  for (const [id, invocation] of invocations) {
    const { report } = invocation;
    // Its REPORT line is in a later batch.
    if (report === undefined) continue;
    const group = logGroup.slice(logGroup.lastIndexOf('/') + 1);
    const draft = draftOf(id, report, invocation, model ?? group);
    if (draft !== undefined) {
      sink.draft(draft, origin);
      continue;
    }
    const shown = JSON.stringify(report.message.slice(0, 200));
    const detail = `A REPORT line of ${name} must have a Duration in ms: it is ${shown}`;
    sink.reject('missing_durations', detail, origin);
  }
}

function logEventOf(value: unknown): LogEvent | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { timestamp, message } = value as Readonly<Record<string, unknown>>;
  if (typeof timestamp !== 'number' || typeof message !== 'string') return undefined;
  return { timestamp, message: message.replaceAll('\\t', '\t').replaceAll('\\n', '\n') };
}

function note(event: LogEvent, invocations: Map<string, Invocation>): void {
  const [, kind, requestId] = requestLine.exec(event.message) ?? [];
  const timedOutId = timeoutLine.exec(event.message)?.[1];
  const id = requestId ?? timedOutId;
  if (id === undefined) return;
  let invocation = invocations.get(id);
  if (invocation === undefined) {
    invocation = { startMs: undefined, report: undefined, isTimeout: false };
    invocations.set(id, invocation);
  }
  if (kind === 'START') invocation.startMs = event.timestamp;
  else if (kind === 'REPORT') invocation.report = event;
  else invocation.isTimeout = true;
}

function draftOf(
  id: string,
  report: LogEvent,
  { startMs, isTimeout }: Invocation,
  model: string,
): EventDraft | undefined {
  const fields = new Map(
    report.message.split('\t').map((field): [string, string] => {
      const [name = '', value = ''] = field.trim().split(/: (.*)/s);
      return [name, value];
    }),
  );
  const forward = milliseconds(fields.get('Duration'));
  if (forward === undefined) return undefined;
  const init = milliseconds(fields.get('Init Duration'));
  const totalMs = Math.round((forward + (init ?? 0)) * 1e6) / 1e6;
  const traceId = /XRAY TraceId: (\S+)/.exec(report.message)?.[1];
  const status = fields.get('Status');
  return {
    ts: Math.round(startMs === undefined ? report.timestamp - totalMs : startMs - (init ?? 0)),
    model,
    id,
    ...(traceId === undefined ? {} : { trace_id: traceId }),
    cold_start: init !== undefined,
    status:
      isTimeout || status === 'timeout' ? 'timeout' : (status ?? 'ok') === 'ok' ? 'ok' : 'error',
    total_ms: totalMs,
    stages_ms: { ...(init === undefined ? {} : { init }), forward },
  };
}

function milliseconds(text: string | undefined): number | undefined {
  const found = /^(\d+(?:\.\d+)?) ms$/.exec(text ?? '');
  return found === null ? undefined : Number(found[1]);
}
