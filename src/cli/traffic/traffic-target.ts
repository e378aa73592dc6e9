import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { messageOf } from '../../base/failure.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { Config } from '../../config/schema.ts';
import { timingTopic } from '../../config/topic-format.ts';
import type { OutgoingMessage, Publisher } from '../../kafka/client/publisher.ts';
import type { Io, Options } from '../io.ts';
import { loadSettings } from '../load.ts';

/** Destination of generated or replayed messages. */
export interface TrafficTarget {
  /** For people: "topic inference.timings.v1", "standard output", a path. */
  readonly name: string;
  /** Resolves when it accepts more. */
  send(messages: readonly OutgoingMessage[]): Promise<void>;
  /** Resolves when everything sent has arrived. */
  close(): Promise<void>;
}

/** Loads the configuration and connects to its cluster; a parameter of commands. */
export type OpenKafka = (
  options: Options,
  io: Io,
) => Promise<{ readonly config: Config; readonly publisher: Publisher }>;

/** @throws {OperatorError} for the configuration, or when no broker responds */
export const openKafka: OpenKafka = async (options, io) => {
  const { config } = await loadSettings(options, io);
  // A command that writes to a file does not load the client.
  const { openKafkaPublisher } = await import('../../kafka/client/kafka-publisher.ts');
  return { config, publisher: await openKafkaPublisher(config.kafka) };
};

/** Opens the first configured topic that holds timing events. @throws {OperatorError} as `openKafka` does */
export async function openTopic(open: OpenKafka, options: Options, io: Io): Promise<TrafficTarget> {
  const { config, publisher } = await open(options, io);
  const topic = timingTopic(config.kafka);
  if (topic === undefined) {
    await publisher.close();
    throw new OperatorError(
      'TAILMARK_CONFIG_INVALID',
      'Cannot publish timing events: kafka.topics must hold a topic of them; each one has another format',
      { hint: 'Add one to kafka.topics, or name one that exists: --topic NAME.' },
    );
  }
  return {
    name: `topic ${topic}`,
    send: (messages) => publisher.publish(topic, messages),
    close: () => publisher.close(),
  };
}

export function openStdout(io: Io): TrafficTarget {
  return {
    name: 'standard output',
    async send(messages) {
      io.out(linesOf(messages));
      await io.outDrained?.();
      // Writes to a pipe may never yield, and signals must be handled.
      await new Promise((resolve) => setImmediate(resolve));
    },
    close: async () => undefined,
  };
}

/** Writes NDJSON to a file, gzipped if its name ends in .gz; an existing file is replaced. */
export function openFile(path: string): TrafficTarget {
  const file = createWriteStream(path);
  const stream: Writable = path.endsWith('.gz') ? createGzip({ level: 6 }) : file;
  if (stream !== file) {
    stream.pipe(file);
    file.on('error', (error) => stream.destroy(error));
  }
  const done = finished(file).catch((error: unknown) => {
    throw new OperatorError(
      'TAILMARK_PATH_UNWRITABLE',
      `Cannot write ${path}: ${messageOf(error)}`,
      {
        hint: 'Give a path in a directory that exists and that you may write to, with space left.',
        cause: error,
      },
    );
  });
  // The next send or close reports the error; until then it must not count as unhandled.
  done.catch(() => undefined);
  stream.on('error', () => undefined);
  return {
    name: path,
    async send(messages) {
      const drained = new Promise<void>((resolve) => {
        if (stream.write(linesOf(messages))) setImmediate(resolve);
        else stream.once('drain', resolve);
      });
      await Promise.race([drained, done]);
    },
    async close() {
      stream.end();
      await done;
    },
  };
}

function linesOf(messages: readonly OutgoingMessage[]): string {
  let text = '';
  for (const { value } of messages) text += `${value === null ? '' : value.toString()}\n`;
  return text;
}
