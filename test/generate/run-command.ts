import { Readable } from 'node:stream';
import { Command as Commander } from 'commander';
import type { ExitCode } from '../../src/base/exit-codes.ts';
import type { Command } from '../../src/cli/command.ts';
import type { Io } from '../../src/cli/io.ts';
import { addConfigFlags } from '../../src/cli/load.ts';
import type { TrafficCommandParts } from '../../src/cli/traffic/send-traffic.ts';
import { configSchema } from '../../src/config/schema.ts';
import type { OutgoingMessage } from '../../src/kafka/client/publisher.ts';
import type { FakeTime } from './fake-time.ts';

export interface CommandRun {
  readonly exitCode: ExitCode;
  readonly out: string;
  readonly err: string;
  /** What each call of publish got, and when. */
  readonly calls: readonly { atMs: number; topic: string; messages: readonly OutgoingMessage[] }[];
  /** The lines of all messages, in the order of publishing. */
  readonly lines: readonly string[];
  readonly opened: number;
  readonly closed: number;
}

export interface CommandRunOptions {
  readonly time: FakeTime;
  readonly io?: Partial<Io>;
  /** Runs in each publish; may throw. */
  readonly onPublish?: (count: number) => void;
}

/** Runs a command's own argv in process, with a publisher that keeps what it is given. */
export async function runCommand(
  create: (parts: TrafficCommandParts) => Command,
  argv: readonly string[],
  { time, io: overrides = {}, onPublish }: CommandRunOptions,
): Promise<CommandRun> {
  let [out, err, opened, closed] = ['', '', 0, 0];
  const calls: CommandRun['calls'][number][] = [];
  const command = create({
    clock: time.clock,
    openKafka: async (options) => {
      opened++;
      const { topic } = options;
      const topics = typeof topic === 'string' ? [topic] : undefined;
      return {
        config: configSchema.parse({ kafka: topics === undefined ? {} : { topics } }),
        publisher: {
          publish: async (name, messages) => {
            onPublish?.(calls.length + 1);
            calls.push({ atMs: time.nowMs, topic: name, messages });
          },
          close: async () => {
            closed++;
          },
        },
      };
    },
  });
  const io: Io = {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    stdin: Readable.from([]),
    env: {},
    isErrTty: false,
    color: false,
    signal: new AbortController().signal,
    ...overrides,
  };
  const commander = new Commander().exitOverride().option('--json');
  addConfigFlags(commander, command.flags ?? []);
  command.configure?.(commander);
  commander.parse([...argv], { from: 'user' });
  let exitCode: ExitCode;
  try {
    exitCode = await command.run(commander.args, commander.opts(), io);
  } catch (error) {
    // What was said and closed until then belongs to what a test looks at.
    throw Object.assign(error as Error, { run: { err, opened, closed } });
  }
  const lines = calls
    .flatMap(({ messages }) => messages)
    .flatMap(({ value }) => (value ?? '').toString().split('\n'));
  return { exitCode, out, err, calls, lines, opened, closed };
}
