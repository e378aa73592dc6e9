import type { DraftSink } from '../../formats/format-reader.ts';
import { objectOf, parsed, textOf } from '../../formats/loose-json.ts';
import type { FileFormat, InputFile } from '../file-format.ts';
import { lines } from '../lines.ts';
import { statusOfHttp } from './http-status.ts';

/** Requests whose proxy line is awaited. Beyond that, the oldest are dropped. */
const MAX_OPEN = 100_000;

/** A finished request or call, as a line says it. */
interface Finished {
  /** Time at which the line was written: the request's end. */
  readonly endMs: number;
  readonly requestId: string;
  /** undefined for the proxy's line. */
  readonly deployment: string | undefined;
  readonly application: string;
  readonly code: number;
  readonly ms: number;
}

/**
 * Level, time, component, its id, request id, message. Until 2.3x the route, the application in some releases, and
 * the place in the code follow the request id.
 */
const textLine =
  /^[A-Z]+ (\S+ \d\d:\d\d:\d\d,\d{3}) (\S+) \S+ (\S+) (?:-- |(\S+) (?:(\S+) )?\S+\.py:\d+ - )(.*)$/;
/** The client comes first where it is asked for; until 2.3x the route is not in the message. */
const httpMessage = /^(?:\S+:\d+ )?[A-Z]+ (?:(\S+) )?(\d{3}) (\d+(?:\.\d+)?)ms$/;
const callMessage =
  /^(?:\S+:\d+ )?(?:CALL \S+|[A-Z_\d]+(?= (?:OK|ERROR|CANCELLED) )) (\S+) (\d+(?:\.\d+)?)ms$/;
const codePlace = /^\S+\.py:\d+ - /;
const proxies = new Set(['proxy', 'http_proxy']);

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
    if (/"message": "(?:\S+\.py:\d+ - )?\S+ (?:\S+ )*(?:\d{3}|[A-Z]+) [\d.]+ms"/.test(head))
      return 'messages "POST /path 200 1.2ms"';
    if (/^[A-Z]+ \S+ \S+,\d{3} \S+ \S+ .*(?:-- |\.py:\d+ - )/m.test(head))
      return 'lines "INFO … -- message"';
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
  const { message, request_id, deployment, application, route, asctime, timestamp_ns } = fields;
  if (typeof message !== 'string' || typeof request_id !== 'string') return undefined;
  const endMs = typeof timestamp_ns === 'number' ? timestamp_ns / 1e6 : msOf(textOf(asctime));
  if (Number.isNaN(endMs)) return undefined;
  return ofMessage(message.replace(codePlace, ''), textOf(route), {
    endMs,
    requestId: request_id,
    deployment: typeof deployment === 'string' ? deployment : undefined,
    application: textOf(application),
  });
}

function ofText(line: string): Finished | undefined {
  const [, time = '', component = '', requestId, route = '', application = '', message] =
    textLine.exec(line) ?? [];
  if (requestId === undefined || message === undefined) return undefined;
  return ofMessage(message, route, {
    endMs: msOf(time),
    requestId,
    deployment: proxies.has(component) ? undefined : component,
    application,
  });
}

/** Epoch milliseconds of `2026-11-25 17:11:20,674`; NaN for what is none. */
function msOf(time: string): number {
  return Date.parse(`${time.replace(' ', 'T').replace(',', '.')}Z`);
}

function ofMessage(
  message: string,
  route: string,
  of: Pick<Finished, 'endMs' | 'requestId' | 'deployment' | 'application'>,
): Finished | undefined {
  const [, path = route, code, ms] = httpMessage.exec(message) ?? [];
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
