import type { DraftSink } from '../../formats/format-reader.ts';
import { objectOf, parsed } from '../../formats/loose-json.ts';
import type { FileFormat, InputFile } from '../file-format.ts';
import { lines } from '../lines.ts';
import { statusOfHttp } from './http-status.ts';

/** Requests whose proxy line is awaited. Of further ones the oldest are given up. */
const MAX_OPEN = 100_000;

/** A finished request or call, as a line says it. */
interface Finished {
  /** When the line was written, which is when the request ended. */
  readonly endMs: number;
  readonly requestId: string;
  /** undefined for the proxy's line. */
  readonly deployment: string | undefined;
  readonly application: string;
  readonly code: number;
  readonly ms: number;
}

const textLine = /^[A-Z]+ (\S+) (\d\d:\d\d:\d\d),(\d{3}) (\S+) \S+ (\S+) -- (.*)$/;
const httpMessage = /^[A-Z]+ (\S+) (\d{3}) (\d+(?:\.\d+)?)ms$/;
const callMessage = /^CALL \S+ (\S+) (\d+(?:\.\d+)?)ms$/;

/**
 * Ray Serve's log of the proxy and those of replicas, as text or JSON. A request is its line in the proxy's log;
 * the replicas' lines with the same request id are its stages, named by deployment. A deployment that another one
 * calls is inside the other's time, so stages do not add up to the total.
 *
 * Files are read side by side by their times, so memory is that of open requests. Text has no zone: UTC is assumed.
 */
export const rayServe: FileFormat = {
  name: 'ray_serve',
  what: "Ray Serve, the proxy's log with those of the replicas",
  recognise(head) {
    if (/"message": "[A-Z]+ \S+ (\d{3}|[A-Z]+) [\d.]+ms"/.test(head))
      return 'messages "POST /path 200 1.2ms"';
    if (/^[A-Z]+ \S+ \S+,\d{3} \S+ \S+ .*-- /m.test(head)) return 'lines "INFO … -- message"';
    return undefined;
  },
  async convert(files, options, sink) {
    const open = new Map<string, Record<string, number>>();
    for await (const line of byTime(files)) {
      if (line.deployment === undefined) {
        finish(line, open.get(line.requestId), options.model, sink);
        open.delete(line.requestId);
        continue;
      }
      const stages = open.get(line.requestId) ?? {};
      stages[line.deployment] = round((stages[line.deployment] ?? 0) + line.ms);
      open.set(line.requestId, stages);
      if (open.size <= MAX_OPEN) continue;
      const [oldest] = open.keys();
      open.delete(oldest as string);
      sink.skip(1);
    }
    // Requests without a line of the proxy: calls from elsewhere.
    if (open.size > 0) sink.skip(open.size);
  },
};

function finish(
  { endMs, requestId, application, code, ms }: Finished,
  stages: Record<string, number> | undefined,
  model: string | undefined,
  sink: DraftSink,
): void {
  const draft = {
    ts: Math.floor(endMs - ms),
    model: model ?? application,
    id: requestId,
    status: statusOfHttp(code),
    total_ms: ms,
    ...(stages === undefined ? {} : { stages_ms: stages }),
  };
  sink.draft(draft, { bytes: () => Buffer.from(JSON.stringify(draft)) });
}

const round = (ms: number) => Math.round(ms * 1e6) / 1e6;

/** Yields the finished requests of all files in the order of their times. */
async function* byTime(files: readonly InputFile[]): AsyncGenerator<Finished, void> {
  const heads = await Promise.all(
    files.map(async (file) => {
      const lines = finishedOf(file);
      return { lines, next: await lines.next() };
    }),
  );
  for (;;) {
    let first: (typeof heads)[number] | undefined;
    for (const head of heads) {
      if (head.next.done === true) continue;
      const before = first?.next.value as Finished | undefined;
      // Of the same moment, the replica's line comes first.
      const isEarlier =
        before === undefined ||
        head.next.value.endMs < before.endMs ||
        (head.next.value.endMs === before.endMs && before.deployment === undefined);
      if (isEarlier) first = head;
    }
    if (first === undefined) return;
    yield first.next.value as Finished;
    first.next = await first.lines.next();
  }
}

async function* finishedOf(file: InputFile): AsyncGenerator<Finished, void> {
  for await (const { text: line = '' } of lines(file.open())) {
    const finished = line.startsWith('{') ? ofJson(line) : ofText(line);
    if (finished !== undefined) yield finished;
  }
}

function ofJson(line: string): Finished | undefined {
  const fields = objectOf(parsed(line));
  if (fields === undefined) return undefined;
  const { message, request_id, deployment, application, timestamp_ns } = fields;
  if (typeof message !== 'string' || typeof request_id !== 'string') return undefined;
  if (typeof timestamp_ns !== 'number') return undefined;
  return ofMessage(message, {
    endMs: timestamp_ns / 1e6,
    requestId: request_id,
    deployment: typeof deployment === 'string' ? deployment : undefined,
    application: typeof application === 'string' ? application : '',
  });
}

function ofText(line: string): Finished | undefined {
  const [, day, time, ms, component, requestId, message] = textLine.exec(line) ?? [];
  if (requestId === undefined || message === undefined) return undefined;
  return ofMessage(message, {
    endMs: Date.parse(`${day}T${time}.${ms}Z`),
    requestId,
    deployment: component === 'proxy' ? undefined : component,
    application: '',
  });
}

function ofMessage(
  message: string,
  of: Pick<Finished, 'endMs' | 'requestId' | 'deployment' | 'application'>,
): Finished | undefined {
  const [, path = '', code, ms] = httpMessage.exec(message) ?? [];
  if (ms !== undefined) {
    const application = of.application === '' ? firstPart(path) : of.application;
    return { ...of, application, code: Number(code), ms: Number(ms) };
  }
  const [, outcome, callMs] = callMessage.exec(message) ?? [];
  if (callMs === undefined) return undefined;
  return { ...of, code: outcome === 'OK' ? 200 : 500, ms: Number(callMs) };
}

function firstPart(path: string): string {
  return path.split('/').find((part) => part !== '') ?? '/';
}
