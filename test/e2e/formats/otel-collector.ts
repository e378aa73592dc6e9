import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parse } from 'yaml';
import { freePorts } from '../../../src/local/local-ports.ts';
import { codeBlocks } from '../../docs/code-blocks.ts';
import { documents } from '../../docs/documents.ts';
import { poll } from '../kit/poll.ts';

/** The OpenTelemetry Collector of this machine: the one that OTELCOL names, else the one on PATH. */
export const collectorPath: string | undefined = process.env.OTELCOL ?? onPath();

/** What a test says that is skipped for the lack of one. */
export const collectorMissing =
  'no OpenTelemetry Collector: OTELCOL names none, and otelcol-contrib and otelcol are not on PATH';

function onPath(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const names = ['otelcol-contrib', 'otelcol'];
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** The block of a page whose first line is this comment, `# collector.yaml`, without that line. */
export function documentedFile(name: string): string {
  const head = `# ${name}\n`;
  const found = documents()
    .flatMap(codeBlocks)
    .filter(({ text }) => text.startsWith(head));
  if (found.length !== 1) throw new Error(`${found.length} blocks of the pages begin with ${head}`);
  return (found[0]?.text ?? '').slice(head.length);
}

/** Names in all collectors' configurations of the pages that no other machine has. */
export interface Replacements {
  readonly brokers: readonly string[];
  /** By what the page says: topics, files. */
  readonly texts: Readonly<Record<string, string>>;
}

export interface Collector {
  readonly grpcPort: number;
  readonly httpPort: number;
  /** Resolves when its log has this text. */
  logged(text: string): Promise<void>;
}

/** Which of the components of these configurations the collector lacks. */
export function lackingComponents(names: readonly string[]): string[] {
  const listed = execFileSync(collectorPath ?? '', ['components'], { encoding: 'utf8' });
  const kinds = parse(listed) as Record<string, unknown>;
  return names.flatMap((name) => {
    const config = parse(documentedFile(name)) as Record<string, Record<string, unknown>>;
    return ['receivers', 'processors', 'exporters'].flatMap((kind) => {
      const has = new Set(
        ((kinds[kind] ?? []) as readonly { readonly name: string }[]).map((each) => each.name),
      );
      return Object.keys(config[kind] ?? {}).filter((id) => !has.has(id.split('/')[0] ?? ''));
    });
  });
}

/**
 * Validates configurations of the pages, as one, and lends a collector that runs with them. It has written all
 * that it took when this resolves.
 *
 * @throws where it has said an error
 */
export async function withCollector(
  names: readonly string[],
  { brokers, texts }: Replacements,
  use: (collector: Collector) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tailmark-collector-'));
  const [grpcPort = 0, httpPort = 0] = await freePorts([undefined, undefined]);
  const replaced: Readonly<Record<string, string>> = {
    'kafka-1:9092': brokers.join(', '),
    '0.0.0.0:4317': `127.0.0.1:${grpcPort}`,
    '0.0.0.0:4318': `127.0.0.1:${httpPort}`,
    ...texts,
  };
  const files = names.map((name) => {
    const path = join(folder, name);
    const text = Object.entries(replaced).reduce(
      (all, [from, to]) => all.replaceAll(from, () => to),
      documentedFile(name),
    );
    writeFileSync(path, text);
    return `--config=${path}`;
  });
  // Its own metrics have a fixed port, which another collector may have.
  const args = [...files, '--set=service.telemetry.metrics.level=none'];
  execFileSync(collectorPath ?? '', ['validate', ...args], { encoding: 'utf8', stdio: 'pipe' });
  const child = spawn(collectorPath ?? '', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const exited = once(child, 'close');
  const logged = async (text: string) => {
    const isOver = () => child.exitCode !== null;
    const said = () => (log.includes(text) || isOver() ? true : undefined);
    await poll(`the collector says "${text}"`, said, { deadlineMs: 60_000, seen: () => log });
    if (isOver()) throw new Error(`the collector has ended:\n${log}`);
  };
  try {
    await logged('Everything is ready');
    await use({ grpcPort, httpPort, logged });
  } finally {
    child.kill('SIGTERM');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  }
  const errors = log.split('\n').filter((line) => line.split('\t')[1] === 'error');
  if (errors.length > 0) throw new Error(`the collector says:\n${errors.join('\n')}`);
}

/** Exports spans as vLLM does by default: by gRPC. */
export async function exportByGrpc(port: number, request: Buffer): Promise<void> {
  const session = connect(`http://127.0.0.1:${port}`);
  try {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    let status: unknown;
    const noteStatus = (headers: Record<string, unknown>) => {
      status = headers['grpc-status'] ?? status;
    };
    stream.on('response', noteStatus).on('trailers', noteStatus).resume();
    const prefix = Buffer.alloc(5); // Not compressed, and the length.
    prefix.writeUInt32BE(request.length, 1);
    stream.end(Buffer.concat([prefix, request]));
    await once(stream, 'end');
    if (status !== '0') throw new Error(`the collector refused spans: grpc-status ${status}`);
  } finally {
    session.close();
  }
}

/** Exports spans as Triton does: by HTTP. */
export async function exportByHttp(port: number, json: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: json,
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
}
