import type { Status } from '../../base/statuses.ts';
import type { DraftSink, EventDraft, Origin } from '../../formats/format-reader.ts';
import { type JsonObject, objectOf, parsed, textOf } from '../../formats/loose-json.ts';
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
  /** What a line of its own says. */
  outcome: Status | undefined;
}

/** What a report says, as text or JSON. */
interface Report {
  readonly durationMs: number | undefined;
  readonly initMs: number | undefined;
  readonly restoreMs: number | undefined;
  readonly status: string | undefined;
  readonly traceId: string | undefined;
}

/** Lines by how they begin: what they say, and the request's id. */
const linesOf = [
  ['start', /^START RequestId: (\S+)/],
  ['report', /^REPORT RequestId: (\S+)/],
  ['timeout', /^\S+ (\S+) Task timed out after /],
  ['error', /^RequestId: (\S+) (?:Error: |Process exited)/],
] as const;

type LineKind = (typeof linesOf)[number][0];

/** Where a batch ends and the next begins on the same line, as Firehose writes them. No text has this. */
const betweenBatches = /(?<=\})\s*(?=\{"messageType")/;

/** Stream of a log group that functions share: day, name of the function, version, instance. */
const sharedStream = /^\d{4}\/\d\d\/\d\d\/([^[]+)\[/;

/**
 * AWS Lambda by its CloudWatch Logs subscription: one object a batch of lines. An invocation is its REPORT
 * line, or its `platform.report` where the function logs JSON.
 *
 * A cold start's Init Duration, or Restore Duration with SnapStart, is not in Duration, so the total is both,
 * and the request starts that much before its START line. Where START is in an earlier batch, the start is the
 * REPORT line's time less the total. A timeout is known by a line of its own, or by Status in REPORT.
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
        for (const part of (text ?? '').split(betweenBatches)) {
          const origin = { bytes: () => Buffer.from(part) };
          const batch = objectOf(parsed(part));
          if (batch === undefined) {
            const found = text === undefined ? 'it is longer than 256 MiB' : 'it is not JSON';
            sink.reject('invalid_json', `A batch of ${file.name} must be JSON: ${found}`, origin);
          } else {
            convertBatch(batch, file.name, options.model, sink, origin);
          }
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
  const invocations = new Map<string, Invocation>();
  for (const each of logEvents) {
    const event = logEventOf(each);
    if (event !== undefined) note(event, invocations);
  }
  for (const [id, invocation] of invocations) {
    const { report } = invocation;
    // Its REPORT line is in a later batch.
    if (report === undefined) continue;
    const draft = draftOf(id, report, invocation, model ?? named);
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
  const { timestamp, message } = objectOf(value) ?? {};
  if (typeof timestamp !== 'number' || typeof message !== 'string') return undefined;
  const isJson = message.startsWith('{');
  const plain = isJson ? message : message.replaceAll('\\t', '\t').replaceAll('\\n', '\n');
  return { timestamp, message: plain };
}

function note(event: LogEvent, invocations: Map<string, Invocation>): void {
  const [kind, id] = kindOf(event.message) ?? [];
  if (kind === undefined || id === undefined) return;
  let invocation = invocations.get(id);
  if (invocation === undefined) {
    invocation = { startMs: undefined, report: undefined, outcome: undefined };
    invocations.set(id, invocation);
  }
  if (kind === 'start') invocation.startMs = event.timestamp;
  else if (kind === 'report') invocation.report = event;
  else invocation.outcome = kind;
}

/** Returns what a line says of which request; undefined for the function's own lines. */
function kindOf(message: string): readonly [LineKind, string] | undefined {
  if (message.startsWith('{')) {
    const [, kind] = /"type"\s*:\s*"platform\.(start|report)"/.exec(message) ?? [];
    const id = kind === undefined ? '' : textOf(recordOf(message).requestId);
    return id === '' ? undefined : [kind as LineKind, id];
  }
  for (const [kind, line] of linesOf) {
    const id = line.exec(message)?.[1];
    if (id !== undefined) return [kind, id];
  }
  return undefined;
}

/** Record of a line that Lambda writes as JSON. */
function recordOf(message: string): JsonObject {
  return objectOf(objectOf(parsed(message))?.record) ?? {};
}

function reportOf(message: string): Report {
  return message.startsWith('{') ? ofJson(recordOf(message)) : ofText(message);
}

function ofJson({ metrics, status, tracing }: JsonObject): Report {
  const { durationMs, initDurationMs, restoreDurationMs } = objectOf(metrics) ?? {};
  const ms = (value: unknown) => (typeof value === 'number' && value >= 0 ? value : undefined);
  return {
    durationMs: ms(durationMs),
    initMs: ms(initDurationMs),
    restoreMs: ms(restoreDurationMs),
    status: typeof status === 'string' ? status : undefined,
    traceId: /Root=([^;]+)/.exec(textOf(objectOf(tracing)?.value))?.[1],
  };
}

function ofText(message: string): Report {
  const fields = new Map(
    message.split('\t').map((field): [string, string] => {
      const [name = '', value = ''] = field.trim().split(/: (.*)/s);
      return [name, value];
    }),
  );
  return {
    durationMs: milliseconds(fields.get('Duration')),
    initMs: milliseconds(fields.get('Init Duration')),
    restoreMs: milliseconds(fields.get('Restore Duration')),
    status: fields.get('Status'),
    traceId: /XRAY TraceId: (\S+)/.exec(message)?.[1],
  };
}

function draftOf(
  id: string,
  { timestamp, message }: LogEvent,
  { startMs, outcome }: Invocation,
  model: string,
): EventDraft | undefined {
  const {
    durationMs: forward,
    initMs: init,
    restoreMs: restore,
    status,
    traceId,
  } = reportOf(message);
  if (forward === undefined) return undefined;
  const beforeMs = (init ?? 0) + (restore ?? 0);
  const totalMs = Math.round((forward + beforeMs) * 1e6) / 1e6;
  return {
    ts: Math.round(startMs === undefined ? timestamp - totalMs : startMs - beforeMs),
    model,
    id,
    ...(traceId === undefined ? {} : { trace_id: traceId }),
    cold_start: init !== undefined || restore !== undefined,
    status: statusOf(status, outcome),
    total_ms: totalMs,
    stages_ms: {
      ...(init === undefined ? {} : { init }),
      ...(restore === undefined ? {} : { restore }),
      forward,
    },
  };
}

function statusOf(reported: string | undefined, outcome: Status | undefined): Status {
  if (outcome === 'timeout' || reported === 'timeout') return 'timeout';
  if (reported === undefined) return outcome ?? 'ok';
  return reported === 'success' ? 'ok' : 'error';
}

function milliseconds(text: string | undefined): number | undefined {
  const found = /^(\d+(?:\.\d+)?) ms$/.exec(text ?? '');
  return found === null ? undefined : Number(found[1]);
}
