import { createReadStream, type ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { systemClock, type WallClock } from '../../../base/clock.ts';
import type { ExitCode } from '../../../base/exit-codes.ts';
import { messageOf } from '../../../base/failure.ts';
import { OperatorError } from '../../../base/operator-error.ts';
import { PublishOrder } from '../../../generate/publish/publish-order.ts';
import type { TimedLine } from '../../../generate/publish/send-paced.ts';
import { readEventLine, shiftTs } from '../../../generate/replay/event-line.ts';
import { readLines } from '../../../generate/replay/read-lines.ts';
import { type CheckedItem, ClockCheck } from '../../../source/clock-check.ts';
import { eventText, unreadable } from '../../../source/event-text.ts';
import type { Command } from '../../command.ts';
import { countOption, parseSpeed } from '../../flag-values.ts';
import type { Io, Options } from '../../io.ts';
import { createProgress } from '../../text/progress.ts';
import { replayDeadLetters } from '../../traffic/replay-dead-letters.ts';
import { sendTraffic, type Traffic, type TrafficCommandParts } from '../../traffic/send-traffic.ts';
import { openKafka, openTopic } from '../../traffic/traffic-target.ts';

/**
 * `tailmark replay FILE`: sends recorded events to Kafka, at any speed, also shifted to now. With
 * `--dead-letters`: sends rejected events once more.
 */
export function createReplayCommand(parts: TrafficCommandParts): Command {
  return {
    flags: ['brokers', 'topic', 'group'],
    endsInOrder: true,
    help: `
Only --rebase changes anything, and only ts. Lines that are not events are sent unchanged; the decoder
writes them to the dead letters with a reason. Empty lines are skipped.

--dead-letters reads rejected events again from Kafka, and sends each once more to its partition: those
since the last such replay that were rejected as undecodable_batch, late, future or too_many_windows.
First correct what made them be rejected. The place reached is that of --group (kafka.group_id): use the
group that ingests. Where another group has replayed the letters, a new one is refused.

Examples:
  tailmark replay trace.ndjson.gz --rebase now
  tailmark replay trace.ndjson --speed 60             an hour in a minute
  zcat old/*.gz | tailmark replay - --speed max
  tailmark replay --dead-letters --dry-run             count them`,
    configure(command) {
      command
        .argument('[FILE]', 'NDJSON, gzipped or not; - is stdin')
        .option('--speed <N|max>', 'event time per wall-clock time', 'max')
        .option('--rebase <now>', 'shift every ts equally, so that the last request ends now')
        .option('--per-message <N>', 'events in one message', '1')
        .option('--dead-letters', 'send rejected events once more, instead of a file')
        .option('--reason <R,…>', 'with --dead-letters: events rejected for these reasons')
        .option('--dry-run', 'with --dead-letters: count, and send nothing')
        .option('--new-group', 'with --dead-letters: also send what another group has replayed');
    },
    run: ([file], options, io) => {
      requireOne(file, options);
      return file === undefined ? replayDeadLetters(options, io) : run(file, options, io, parts);
    },
  };
}

export const replayCommand: Command = createReplayCommand({ openKafka });

/** A replay is of a file or of dead letters. */
function requireOne(file: string | undefined, options: Options): void {
  const { deadLetters, reason, dryRun, group, newGroup } = options;
  if (file === undefined && deadLetters === true) return;
  const isFile = file !== undefined && deadLetters === undefined;
  const isPlain = [reason, dryRun, group, newGroup].every((given) => given === undefined);
  if (isFile && isPlain) return;
  throw new OperatorError(
    'TAILMARK_USAGE',
    isFile
      ? 'Cannot replay: --reason, --dry-run, --group and --new-group must stand with --dead-letters'
      : 'Cannot replay: either a file or --dead-letters must be given',
    { hint: 'See `tailmark replay --help`.' },
  );
}

/** A file to read more than once, or standard input. */
interface Trace {
  readonly sizeBytes: number | undefined;
  lines(): AsyncIterable<readonly Buffer[]>;
  /** Bytes of the file that the current pass has read. */
  readBytes(): number;
}

/** Counts of the current pass. */
interface Tally {
  unchangedCount: number;
  blankCount: number;
}

async function run(
  file: string,
  options: Options,
  io: Io,
  { openKafka, clock = systemClock }: TrafficCommandParts,
): Promise<ExitCode> {
  const speed = parseSpeed(String(options.speed));
  const perMessage = countOption('--per-message', options.perMessage, 1, 100_000);
  const rebase = readRebase(options.rebase, file);
  const trace = await openTrace(file, io);
  const target = await openTopic(openKafka, options, io);
  const tally: Tally = { unchangedCount: 0, blankCount: 0 };
  const prepare = async (): Promise<Traffic> => {
    const shiftMs = rebase ? await shiftToNow(trace, io, clock) : 0;
    const timed = timedLines(trace.lines(), shiftMs, tally);
    return {
      verbs: ['Replaying', 'Replayed'],
      lines: Number.isFinite(speed) ? inOrder(timed) : timed,
      perMessage,
      pace: { speed, eventMs: undefined },
      total: trace.sizeBytes,
      reached: () => trace.readBytes(),
      extra: () => ({
        unchanged: tally.unchangedCount,
        blank: tally.blankCount,
        shift_ms: shiftMs,
      }),
      note: () =>
        tally.unchangedCount === 0
          ? ''
          : `${tally.unchangedCount} of them are not events with a ts and were sent unchanged.`,
    };
  };
  const json = options.json === true;
  return sendTraffic(prepare, { target, clock, json, print: io.out }, io);
}

/** A line, the start of its request, and its due time: the request's end. */
interface ReplayLine extends TimedLine {
  readonly startMs: number;
}

async function* timedLines(
  groups: AsyncIterable<readonly Buffer[]>,
  shiftMs: number,
  tally: Tally,
): AsyncGenerator<readonly ReplayLine[], void> {
  for await (const group of groups) {
    const timed: ReplayLine[] = [];
    for (const line of group) {
      if (line.length === 0) {
        tally.blankCount++;
        continue;
      }
      const event = readEventLine(line);
      if (event === undefined) {
        tally.unchangedCount++;
        timed.push({ startMs: Number.NaN, dueMs: undefined, key: undefined, line });
        continue;
      }
      const { text, ts, lastsMs, key } = event;
      const shifted = shiftMs === 0 ? text : shiftTs(text, ts, shiftMs);
      const startMs = ts.tsMs + shiftMs;
      timed.push({ startMs, dueMs: startMs + lastsMs, key, line: shifted });
    }
    yield timed;
  }
}

/** Yields events in the order in which their requests ended; other lines are not delayed. */
async function* inOrder(
  groups: AsyncIterable<readonly ReplayLine[]>,
): AsyncGenerator<readonly TimedLine[], void> {
  const order = new PublishOrder<ReplayLine & { readonly dueMs: number }>();
  for await (const group of groups) {
    const due: TimedLine[] = [];
    for (const line of group) {
      const { dueMs } = line;
      if (dueMs === undefined) due.push(line);
      else due.push(...order.push({ ...line, dueMs }));
    }
    yield due;
  }
  yield [...order.drain()];
}

/** An event that is so much later than those that follow it does not say when the trace ends. */
const WRONG_CLOCK_MS = 300_000;

/** Reads the file to find the shift of every `ts` after which the last request ends now. */
async function shiftToNow(trace: Trace, io: Io, clock: WallClock): Promise<number> {
  let lastMs = Number.NEGATIVE_INFINITY;
  const clocks = new ClockCheck<number>(WRONG_CLOCK_MS);
  const observe = ({ item, isAhead }: CheckedItem<number>) => {
    if (!isAhead) lastMs = Math.max(lastMs, item);
  };
  const progress = createProgress(io, {
    label: 'Finding the last event',
    total: trace.sizeBytes,
    clock,
  });
  try {
    for await (const group of trace.lines()) {
      if (io.signal.aborted) break;
      for (const line of group) {
        const event = line.length === 0 ? undefined : readEventLine(line);
        if (event === undefined) continue;
        const endMs = event.ts.tsMs + event.lastsMs;
        for (const checked of clocks.push(endMs, endMs)) observe(checked);
      }
      progress.update(trace.readBytes());
    }
  } finally {
    progress.finish();
  }
  for (const checked of clocks.drain()) observe(checked);
  return lastMs === Number.NEGATIVE_INFINITY ? 0 : clock.nowMs() - Math.floor(lastMs);
}

function readRebase(given: unknown, file: string): boolean {
  if (given === undefined) return false;
  if (given !== 'now') {
    throw usage(`--rebase must be "now": it is ${JSON.stringify(given)}`, 'Write --rebase now.');
  }
  if (file === '-') {
    throw usage(
      '--rebase must have a file to read twice: it is standard input',
      'Save the trace to a file first, or leave --rebase out.',
    );
  }
  return true;
}

function usage(problem: string, hint: string): OperatorError {
  return new OperatorError('TAILMARK_USAGE', `Cannot replay as ${problem}`, { hint });
}

async function openTrace(path: string, io: Io): Promise<Trace> {
  if (path === '-') {
    const { stdin } = io;
    return {
      sizeBytes: undefined,
      readBytes: () => 0,
      lines: () => readLines(eventText(stdin as AsyncIterable<Buffer | string>, 'standard input')),
    };
  }
  const info = await stat(path).catch((error: unknown) => {
    throw unreadable(path, messageOf(error));
  });
  if (info.isDirectory()) throw unreadable(path, 'it is a directory');
  let file: ReadStream | undefined;
  return {
    sizeBytes: info.size,
    readBytes: () => file?.bytesRead ?? 0,
    lines() {
      file = createReadStream(path, { highWaterMark: 256 * 1024 });
      return readLines(eventText(file, path));
    },
  };
}
