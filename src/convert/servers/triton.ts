import type { DraftSink, EventDraft } from '../../formats/format-reader.ts';
import { objectOf, parsed } from '../../formats/loose-json.ts';
import { type Interval, ModelStages, ownTime } from '../../formats/model-stages.ts';
import type { FileFormat } from '../file-format.ts';
import { jsonObjects } from '../json-objects.ts';
import { requiredStart } from '../required-options.ts';

const MAX_RECORD_BYTES = 1024 * 1024;
/** Requests of which records may still come: they are out of order. */
const MAX_OPEN = 10_000;

/** Stages of a request by their first and last milestone. */
const frontStages = [
  ['ingress', 'RECV_START', 'RECV_END'],
  ['parse', 'RECV_END', 'REQUEST_START'],
  ['parse', 'WAITREAD_END', 'REQUEST_START'],
  ['egress', 'SEND_START', 'SEND_END'],
] as const;
const modelStages = [
  ['queue', 'QUEUE_START', 'COMPUTE_START'],
  ['preprocess', 'COMPUTE_START', 'COMPUTE_INPUT_END'],
  ['forward', 'COMPUTE_INPUT_END', 'COMPUTE_OUTPUT_START'],
  ['postprocess', 'COMPUTE_OUTPUT_START', 'COMPUTE_END'],
] as const;

/** Milestones that HTTP and gRPC name differently. A gRPC connection stands idle until WAITREAD ends. */
const common: Readonly<Record<string, string>> = {
  HTTP_RECV_START: 'RECV_START',
  HTTP_RECV_END: 'RECV_END',
  HTTP_SEND_START: 'SEND_START',
  HTTP_SEND_END: 'SEND_END',
  GRPC_WAITREAD_END: 'WAITREAD_END',
  GRPC_SEND_START: 'SEND_START',
  GRPC_SEND_END: 'SEND_END',
};

/** Data of a request, which the level TENSORS adds and which may be of any length. */
const tensor = /^\s*\{\s*"id"\s*:\s*\d+\s*,\s*"activity"\s*:\s*"TENSOR_/;

/** Values from the records of an id. */
interface Traced {
  model: string | undefined;
  version: string | undefined;
  requestId: string | undefined;
  /** Monotonic nanoseconds by milestone. */
  readonly ns: Map<string, number>;
  readonly children: Traced[];
  isChild: boolean;
}

/**
 * Triton's trace file (`--trace-config mode=triton`). Its times are monotonic, so `--start` says when the first
 * request began. An ensemble is one event of its own model, and so is a model that calls others. The stages
 * of what they run, at any depth, are prefixed by its model. They add up over several runs, and a caller's
 * `forward` is without the time of what it called.
 *
 * A trace has no status: a failed request looks like any other, so no error rate can be had. A rejected one has no
 * end, and is rejected here as `no_end`. Memory: the last 10,000 ids.
 */
export const triton: FileFormat = {
  name: 'triton',
  what: 'Triton, trace file of mode triton (needs --start)',
  recognise(head) {
    const isTrace = /^\s*\[?\s*\{\s*"id"\s*:\s*\d+\s*,\s*"(timestamps|model_name)"/.test(head);
    return isTrace ? 'records with id and timestamps' : undefined;
  },
  async convert(files, options, sink) {
    const startMs = requiredStart(
      'triton',
      options,
      'its times count from the start of the machine',
    );
    // Files of one server have one clock: with a log frequency it writes several.
    let firstNs: number | undefined;
    for (const file of files) {
      const open = new Map<number, Traced>();
      const emit = (id: number) => {
        const traced = open.get(id);
        open.delete(id);
        if (traced === undefined || traced.isChild) return;
        finish(id, traced, options.model, (ns) => startMs + (ns - (firstNs ?? ns)) / 1e6, sink);
      };
      for await (const { text, isWhole } of jsonObjects(file.open(), MAX_RECORD_BYTES)) {
        if (!isWhole && tensor.test(text)) continue;
        const record = isWhole ? objectOf(parsed(text)) : undefined;
        if (record === undefined || typeof record.id !== 'number') {
          const detail = `A record of ${file.name} must be an object with an id, a number`;
          sink.reject('invalid_json', detail, { bytes: () => Buffer.from(text) });
          continue;
        }
        // Ids count from 1 again once the server is started again.
        const isAgain = typeof record.model_name === 'string' && isKnown(open.get(record.id));
        if (isAgain) emit(record.id);
        const traced = tracedOf(record.id, open);
        note(record, traced, open);
        const startNs = startOf(traced);
        if (startNs !== undefined) firstNs = Math.min(firstNs ?? startNs, startNs);
        if (open.size <= MAX_OPEN) continue;
        const [oldest] = open.keys();
        emit(oldest as number);
      }
      for (const id of [...open.keys()]) emit(id);
    }
  },
};

function tracedOf(id: number, open: Map<number, Traced>): Traced {
  let traced = open.get(id);
  if (traced === undefined) {
    traced = {
      model: undefined,
      version: undefined,
      requestId: undefined,
      ns: new Map(),
      children: [],
      isChild: false,
    };
    open.set(id, traced);
  }
  return traced;
}

/** True if the record with its model was there. */
function isKnown(traced: Traced | undefined): boolean {
  return traced?.model !== undefined;
}

function note(
  record: Readonly<Record<string, unknown>>,
  traced: Traced,
  open: Map<number, Traced>,
): void {
  const { model_name, model_version, request_id, parent_id, timestamps } = record;
  if (typeof model_name === 'string') traced.model = model_name;
  if (typeof model_version === 'number') traced.version = String(model_version);
  if (typeof request_id === 'string' && request_id !== '') traced.requestId = request_id;
  if (typeof parent_id === 'number' && !traced.isChild) {
    traced.isChild = true;
    tracedOf(parent_id, open).children.push(traced);
  }
  if (!Array.isArray(timestamps)) return;
  for (const each of timestamps) {
    const { name, ns } = Object(each) as Readonly<Record<string, unknown>>;
    if (typeof name !== 'string' || typeof ns !== 'number') continue;
    traced.ns.set(common[name] ?? name, ns);
  }
}

function startOf({ ns }: Traced): number | undefined {
  return ns.get('RECV_START') ?? ns.get('WAITREAD_END');
}

function finish(
  id: number,
  traced: Traced,
  model: string | undefined,
  wallMs: (ns: number) => number,
  sink: DraftSink,
): void {
  const { ns, version, requestId } = traced;
  const origin = { bytes: () => Buffer.from(JSON.stringify({ id, ...Object.fromEntries(ns) })) };
  const startNs = startOf(traced);
  const endNs = ns.get('SEND_END');
  if (startNs === undefined || endNs === undefined) {
    const missing = startNs === undefined ? 'a start' : 'an end';
    const why = 'Triton rejected it, or the trace was cut';
    sink.reject('no_end', `Request ${id} must have ${missing}: it has none, as ${why}`, origin);
    return;
  }
  if (endNs < startNs) {
    const detail = `Request ${id} must end after its start: it ends ${startNs - endNs} ns before`;
    sink.reject('ends_before_start', detail, origin);
    return;
  }
  const draft: EventDraft = {
    ts: Math.floor(wallMs(startNs)),
    model: model ?? traced.model,
    ...(version === undefined ? {} : { version }),
    ...(requestId === undefined ? {} : { id: requestId }),
    total_ms: (endNs - startNs) / 1e6,
    stages_ms: stagesOf(traced),
  };
  sink.draft(draft, origin);
}

function stagesOf(root: Traced): Readonly<Record<string, number>> {
  const stages = new ModelStages();
  for (const [stage, from, to] of frontStages) {
    const interval = intervalOf(root.ns.get(from), root.ns.get(to));
    if (interval !== undefined) stages.add(undefined, stage, ownTime(interval, []) / 1e6);
  }
  const waiting = [root];
  for (let model = waiting.pop(); model !== undefined; model = waiting.pop()) {
    const { ns, children } = model;
    const name = model === root ? undefined : (model.model ?? 'part');
    const called = children.flatMap((child) => spanOf(child));
    for (const [stage, from, to] of modelStages) {
      const interval = intervalOf(ns.get(from), ns.get(to));
      if (interval !== undefined) stages.add(name, stage, ownTime(interval, called) / 1e6);
    }
    waiting.push(...children.toReversed());
  }
  return stages.ms;
}

function intervalOf(from: number | undefined, to: number | undefined): Interval | undefined {
  return from === undefined || to === undefined ? undefined : [from, to];
}

/** From the first to the last that a model's records say. */
function spanOf({ ns }: Traced): readonly Interval[] {
  const times = [...ns.values()];
  return times.length === 0 ? [] : [[Math.min(...times), Math.max(...times)]];
}
