import { minuteMs } from '../../base/time.ts';
import type { EventDraft } from '../../formats/format-reader.ts';
import type { FileFormat, InputFile } from '../file-format.ts';
import { lines } from '../lines.ts';
import { statusOfHttp } from './http-status.ts';

/** Values of a model that wait for its requests. */
const MAX_WAITING = 100_000;
const QUARTER_MS = 15 * minuteMs;

/** Inference by TorchServe's own path, or by KServe's protocols v1 and v2. */
const accessLine =
  /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d),(\d{3}) - \S+ "(?:POST|PUT|GET) \/(?:predictions|v1\/models(?=\/[^/ ?]+:predict)|v2\/models(?=\/[^ ?]+\/infer))\/([^/ ?:]+)\S* HTTP\/\S+" (\d{3}) (\d+)$/;
const metricLine =
  /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d),(\d{3}) - (\w+)\.(\w+):([\d.]+)\|#(.*)\|#(.*)$/;

/** Stage of each model metric. HandlerTime is one for a batch, and each of its requests had it. */
const stages: Readonly<Record<string, string>> = {
  PreprocessTime: 'preprocess',
  InferenceTime: 'forward',
  HandlerTime: 'forward',
  PostprocessTime: 'postprocess',
};

/** A request as the model's metrics know it. */
interface Handled {
  readonly id: string;
  readonly host: string | undefined;
  readonly batchSize: number;
  readonly stagesMs: Record<string, number>;
}

/**
 * TorchServe's access log, with model_metrics and ts_metrics where given. No line has all of a request, and
 * none has a common key. So they are joined by order, model by model: the k-th answered request of the access
 * log, the k-th queue latency, the k-th id of the batches. Replies go out in that order.
 *
 * Lines say when a request ended, in local time. The epoch stamps of the metrics give its offset from UTC, which
 * is 0 without them. Milliseconds of the total are whole, as the log has them. Requests that failed have no
 * stages.
 */
export const torchserve: FileFormat = {
  name: 'torchserve',
  what: 'TorchServe, access_log.log with model_metrics.log and ts_metrics.log',
  recognise(head) {
    if (/^\S+[T ]\S+,\d{3} - \S+ "[A-Z]+ \S+ HTTP\/\S+" \d{3} \d+$/m.test(head)) {
      return 'lines of an access log of TorchServe';
    }
    return metricLine.test(head.split('\n', 1)[0] ?? '') ? 'metric lines of TorchServe' : undefined;
  },
  async convert(files, options, sink) {
    const [access, model, queue] = await sorted(files);
    if (access === undefined) {
      sink.reject('invalid_line', 'The files must hold an access log of TorchServe: none does', {
        bytes: () => Buffer.from(files.map(({ name }) => name).join('\n')),
      });
      return;
    }
    const offsetMs = await offsetOf([model, queue]);
    const handled = new ByModel(model === undefined ? undefined : handledOf(model));
    const queued = new ByModel(queue === undefined ? undefined : queueMsOf(queue));
    for await (const { text: line = '' } of lines(access.open())) {
      const [, day, time, ms, name = '', code, totalText] = accessLine.exec(line) ?? [];
      if (totalText === undefined) continue;
      const isAnswered = Number(code) < 300;
      const known = isAnswered ? await handled.next(name) : undefined;
      const queueMs = isAnswered ? await queued.next(name) : undefined;
      const totalMs = Number(totalText);
      const stagesMs = { ...(queueMs === undefined ? {} : { queue: queueMs }), ...known?.stagesMs };
      const draft: EventDraft = {
        ts: Date.parse(`${day}T${time}.${ms}Z`) - offsetMs - totalMs,
        model: options.model ?? name,
        ...(known === undefined ? {} : { id: known.id, batch_size: known.batchSize }),
        ...(known?.host === undefined ? {} : { host: known.host }),
        status: statusOfHttp(Number(code)),
        total_ms: totalMs,
        ...(Object.keys(stagesMs).length === 0 ? {} : { stages_ms: stagesMs }),
      };
      sink.draft(draft, { bytes: () => Buffer.from(line) });
    }
  },
};

/** Recognises the three logs by their first lines. */
async function sorted(files: readonly InputFile[]) {
  let access: InputFile | undefined;
  let model: InputFile | undefined;
  let queue: InputFile | undefined;
  for (const file of files) {
    const first = await lines(file.open()).next();
    const line = first.value?.text ?? '';
    if (/" \d{3} \d+$/.test(line)) access ??= file;
    else if (/\bLevel:Model\b/.test(line)) model ??= file;
    else if (metricLine.test(line)) queue ??= file;
  }
  return [access, model, queue] as const;
}

/** Offset of the lines' zone from UTC, in quarters of an hour. */
async function offsetOf(files: readonly (InputFile | undefined)[]): Promise<number> {
  for (const file of files) {
    if (file === undefined) continue;
    for await (const { text: line = '' } of lines(file.open())) {
      const metric = metricOf(line);
      if (metric?.stampMs === undefined) continue;
      return Math.round((metric.lineMs - metric.stampMs) / QUARTER_MS) * QUARTER_MS;
    }
  }
  return 0;
}

function metricOf(line: string) {
  const [, day, time, ms, name, , value, labels = '', origin = ''] = metricLine.exec(line) ?? [];
  if (name === undefined) return undefined;
  const stamp = /timestamp:(\d{10})/.exec(origin)?.[1];
  return {
    name,
    value: Number(value),
    model: /\b(?:ModelName|model_name):([^,]+)/.exec(labels)?.[1] ?? '',
    host: /hostname:([^,]+)/.exec(origin)?.[1],
    ids: /requestID:(.*?),timestamp:/.exec(origin)?.[1]?.split(',') ?? [],
    lineMs: Date.parse(`${day}T${time}.${ms}Z`),
    stampMs: stamp === undefined ? undefined : Number(stamp) * 1000,
  };
}

type OfModel<T> = readonly [model: string, value: T];

async function* queueMsOf(file: InputFile): AsyncGenerator<OfModel<number>, void> {
  for await (const { text: line = '' } of lines(file.open())) {
    const metric = metricOf(line);
    if (metric?.name !== 'ts_queue_latency_microseconds') continue;
    yield [metric.model, Math.round(metric.value * 1e3) / 1e6];
  }
}

/** Yields requests in the order of their batches. The stages of a batch are lines one after another. */
async function* handledOf(file: InputFile): AsyncGenerator<OfModel<Handled>, void> {
  let key = '';
  let model = '';
  let batch: Handled[] = [];
  let seen = new Set<string>();
  for await (const { text: line = '' } of lines(file.open())) {
    const metric = metricOf(line);
    const stage = metric === undefined ? undefined : stages[metric.name];
    if (metric === undefined || stage === undefined) continue;
    const ids = metric.ids.join();
    // A request that is sent again under its id may follow itself.
    if (ids !== key || seen.has(metric.name)) {
      for (const each of batch) yield [model, each];
      const { host } = metric;
      batch = metric.ids.map((id) => ({ id, host, batchSize: metric.ids.length, stagesMs: {} }));
      [key, model] = [ids, metric.model];
      seen = new Set();
    }
    seen.add(metric.name);
    for (const each of batch) each.stagesMs[stage] = metric.value;
  }
  for (const each of batch) yield [model, each];
}

/**
 * Values of each model in their order, read no further than needed. Those that no request of the access log takes
 * (requests by gRPC) would wait for ever: of such a model no more are kept.
 */
class ByModel<T> {
  readonly #values: AsyncGenerator<OfModel<T>, void> | undefined;
  readonly #waiting = new Map<string, T[]>();
  readonly #givenUp = new Set<string>();

  constructor(values: AsyncGenerator<OfModel<T>, void> | undefined) {
    this.#values = values;
  }

  /** The next value of a model; undefined after the last. */
  async next(model: string): Promise<T | undefined> {
    if (this.#values === undefined || this.#givenUp.has(model)) return undefined;
    const waiting = this.#waiting.get(model)?.shift();
    if (waiting !== undefined) return waiting;
    for (;;) {
      const { done, value } = await this.#values.next();
      if (done === true) return undefined;
      if (value[0] === model) return value[1];
      this.#wait(...value);
    }
  }

  #wait(model: string, value: T): void {
    if (this.#givenUp.has(model)) return;
    const waiting = this.#waiting.get(model) ?? [];
    waiting.push(value);
    this.#waiting.set(model, waiting);
    if (waiting.length <= MAX_WAITING) return;
    this.#waiting.delete(model);
    this.#givenUp.add(model);
  }
}
