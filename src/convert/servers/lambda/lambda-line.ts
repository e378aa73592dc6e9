import type { Status } from '../../../base/statuses.ts';
import { type JsonObject, objectOf, parsed, textOf } from '../../../formats/loose-json.ts';

/** Content of a REPORT line, as text or JSON. */
export interface Report {
  /** Undefined where the line has none that can be read. */
  readonly durationMs: number | undefined;
  readonly initMs: number | undefined;
  readonly restoreMs: number | undefined;
  readonly status: string | undefined;
  readonly traceId: string | undefined;
  /** Beginning of the line. */
  readonly shown: string;
}

/** The way a sandbox comes up: the code is initialised, or a snapshot is restored. */
export type PreparationKind = 'init' | 'restore';

/** A line that Lambda itself writes. Those of an invocation name its request. */
export type LambdaLine =
  | { readonly kind: 'start'; readonly id: string }
  | { readonly kind: 'report'; readonly id: string; readonly report: Report }
  | { readonly kind: 'outcome'; readonly id: string; readonly outcome: Status }
  | {
      readonly kind: 'preparing';
      readonly what: PreparationKind;
      /** True where it is known to happen ahead of any request. */
      readonly isAhead: boolean;
    }
  | {
      readonly kind: 'prepared';
      readonly what: PreparationKind;
      readonly isAhead: boolean;
      readonly durationMs: number | undefined;
      readonly hasFailed: boolean;
      /** True where it was done within an invocation, whose Duration holds it. */
      readonly isWithin: boolean;
    };

/** Initialisation that waits for no request; `on-demand` is the other one. */
const aheadTypes: readonly unknown[] = [
  'provisioned-concurrency',
  'snap-start',
  'lambda-managed-instances',
];

const platformLine =
  /"type"\s*:\s*"platform\.(?:start|report|initStart|initReport|restoreStart|restoreReport)"/;

/** Returns what a line says; undefined for the function's own lines. */
export function lambdaLineOf(message: string): LambdaLine | undefined {
  if (message.startsWith('{')) return platformLine.test(message) ? ofJson(message) : undefined;
  return ofText(message);
}

function ofText(message: string): LambdaLine | undefined {
  const [, word = '', rest = ''] =
    /^(START|REPORT|INIT_START|RESTORE_START|INIT_REPORT|RESTORE_REPORT) (.*)$/s.exec(message) ??
    [];
  const id = /^RequestId: (\S+)/.exec(rest)?.[1];
  if (word === 'START') return id === undefined ? undefined : { kind: 'start', id };
  if (word === 'REPORT') {
    return id === undefined ? undefined : { kind: 'report', id, report: reportOfText(message) };
  }
  if (word !== '') return preparationOfText(word, rest);
  const timedOut = /^\S+ (\S+) Task timed out after /.exec(message)?.[1];
  if (timedOut !== undefined) return { kind: 'outcome', id: timedOut, outcome: 'timeout' };
  const failed = /^RequestId: (\S+) (?:Error: |Process exited)/.exec(message)?.[1];
  return failed === undefined ? undefined : { kind: 'outcome', id: failed, outcome: 'error' };
}

function preparationOfText(word: string, rest: string): LambdaLine {
  const what = word.startsWith('INIT') ? 'init' : 'restore';
  if (word.endsWith('_START')) return { kind: 'preparing', what, isAhead: false };
  const fields = fieldsOf(rest);
  const status = fields.get('Status');
  return {
    kind: 'prepared',
    what,
    isAhead: false,
    durationMs: milliseconds(fields.get(what === 'init' ? 'Init Duration' : 'Restore Duration')),
    hasFailed: status !== undefined && status !== 'success',
    isWithin: fields.get('Phase') === 'invoke',
  };
}

function reportOfText(message: string): Report {
  const fields = fieldsOf(message);
  return {
    durationMs: milliseconds(fields.get('Duration')),
    initMs: milliseconds(fields.get('Init Duration')),
    restoreMs: milliseconds(fields.get('Restore Duration')),
    status: fields.get('Status'),
    traceId: /XRAY TraceId: (\S+)/.exec(message)?.[1],
    shown: message.slice(0, 200),
  };
}

/** Fields of a line, which tabs separate. */
function fieldsOf(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split('\t').map((field): [string, string] => {
      const [name = '', value = ''] = field.trim().split(/: (.*)/s);
      return [name, value];
    }),
  );
}

function milliseconds(text: string | undefined): number | undefined {
  const found = /^(\d+(?:\.\d+)?) ms$/.exec(text ?? '');
  return found === null ? undefined : Number(found[1]);
}

function ofJson(message: string): LambdaLine | undefined {
  const line = objectOf(parsed(message));
  const record = objectOf(line?.record) ?? {};
  const type = textOf(line?.type).replace('platform.', '');
  const id = textOf(record.requestId);
  if (type === 'start' || type === 'report') {
    if (id === '') return undefined;
    if (type === 'start') return { kind: 'start', id };
    return { kind: 'report', id, report: reportOfJson(record, message) };
  }
  const what = type.startsWith('init') ? 'init' : 'restore';
  const isAhead = aheadTypes.includes(record.initializationType) && what === 'init';
  if (type.endsWith('Start')) return { kind: 'preparing', what, isAhead };
  return {
    kind: 'prepared',
    what,
    isAhead,
    durationMs: durationOf(objectOf(record.metrics)?.durationMs),
    hasFailed: typeof record.status === 'string' && record.status !== 'success',
    isWithin: record.phase === 'invoke',
  };
}

function reportOfJson({ metrics, status, tracing }: JsonObject, message: string): Report {
  const { durationMs, initDurationMs, restoreDurationMs } = objectOf(metrics) ?? {};
  return {
    durationMs: durationOf(durationMs),
    initMs: durationOf(initDurationMs),
    restoreMs: durationOf(restoreDurationMs),
    status: typeof status === 'string' ? status : undefined,
    traceId: /Root=([^;]+)/.exec(textOf(objectOf(tracing)?.value))?.[1],
    shown: message.slice(0, 200),
  };
}

function durationOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}
