import { readFile } from 'node:fs/promises';
import { type ExitCode, exitCodes } from '../../../base/exit-codes.ts';
import { messageOf } from '../../../base/failure.ts';
import { limits } from '../../../base/limits.ts';
import { OperatorError } from '../../../base/operator-error.ts';
import { avroContainer, mappedContainer } from '../../../convert/avro/avro-container.ts';
import { Converter, type Rejected } from '../../../convert/convert.ts';
import type { ConvertOptions, FileFormat } from '../../../convert/file-format.ts';
import { chooseFormat, fileFormats } from '../../../convert/input/file-formats.ts';
import { type OpenedInput, openInput } from '../../../convert/input/open-input.ts';
import { mappedFormat } from '../../../convert/json/mapped-format.ts';
import { FoundFields } from '../../../formats/mapping/found-fields.ts';
import type { OutgoingMessage } from '../../../kafka/client/publisher.ts';
import { unreadable } from '../../../source/event-text.ts';
import type { Command } from '../../command.ts';
import { countOption, parseStart } from '../../flag-values.ts';
import type { Io, Options } from '../../io.ts';
import { loadSettings } from '../../load.ts';
import { createProgress } from '../../text/progress.ts';
import {
  openFile,
  openKafka,
  openStdout,
  openTopic,
  type TrafficTarget,
} from '../../traffic/traffic-target.ts';
import { eventsOf, withWritten } from '../../traffic/written-before.ts';

/** Rejections that are printed; all are counted. */
const PRINTED = 5;
/** Files of which progress is shown. */
const PROGRESS_BYTES = 1024 * 1024;
/** Messages that are sent at once. */
const BATCH = 1_000;

const nameWidth = Math.max(...fileFormats.map(({ name }) => name.length));
const formatList = fileFormats
  .map(({ name, what }) => `  ${name.padEnd(nameWidth)}  ${what}`)
  .join('\n');

/** `tailmark convert`: files that teams have, to timing events. */
export const convert: Command = {
  flags: ['brokers', 'topic'],
  help: `
Formats:
${formatList}

Examples:
  tailmark convert results.json.gz > events.ndjson        the format is recognised
  tailmark convert --format k6 results.csv --to k6.ndjson.gz
  tailmark convert requests.ndjson --mapping mine.yaml
  tailmark convert --format llmperf responses.json --model llama-70b --start 2026-11-25T12:00:00Z

Every event is checked as a timing event before it is written. What cannot be one is counted by its
reason; the first ${PRINTED} are printed, and --rejected FILE keeps all with their bytes. Spans and records
that no rule maps to an event are counted as skipped. Files are read as streams, gzipped or not.

Exit codes: 0 everything was converted, 2 something was rejected or all was skipped, 1 a gzip is cut short
or damaged: what was written before is said.`,
  configure(command) {
    command
      .argument('<FILE...>', 'files to convert; several where a format has several')
      .option('--format <NAME>', 'format of the files', 'auto')
      .option(
        '--mapping <FILE>',
        'read JSON lines or an Avro container by a mapping of your own; see config/presets',
      )
      .option('--model <NAME>', 'model, for formats that name none')
      .option('--start <TIME>', 'start of the first request, for formats without times')
      .option(
        '--weight <N>',
        'requests that an event stands for, such as the rate of Triton traces',
      )
      .option('--to <TARGET>', 'stdout, kafka, or a file (gzipped if it ends in .gz)', 'stdout')
      .option('--rejected <FILE>', 'write what was rejected: NDJSON of reason, detail, bytes');
  },
  run,
};

async function run(files: readonly string[], options: Options, io: Io): Promise<ExitCode> {
  const { config } = await loadSettings(options, io);
  let readBytes = 0;
  const onBytes = (bytes: number) => {
    readBytes += bytes;
  };
  const inputs = await openInputs(files, onBytes);
  const found = new FoundFields();
  const { format, because } = await chooseWith(options, firstFilled(inputs, files), found);
  if (because !== undefined) io.err(`Format: ${format.name} (${because})\n`);

  const target = await openTarget(String(options.to), options, io);
  const letters = options.rejected === undefined ? undefined : openFile(String(options.rejected));
  const events: OutgoingMessage[] = [];
  const rejected: OutgoingMessage[] = [];
  const { max_duration: maxDurationMs, max_dimension_bytes: maxDimensionBytes } = config.limits;
  const converter = new Converter(
    { maxDurationMs, maxDimensionBytes },
    (event) => events.push({ value: JSON.stringify(event) }),
    (each) => {
      if (converter.rejected <= PRINTED) io.err(`Rejected (${each.reason}): ${each.detail}\n`);
      if (letters !== undefined) rejected.push(letterOf(each));
    },
    weightOf(options.weight),
  );
  const total = inputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const progress = createProgress(io, { label: 'Converting', total });
  let sent = 0;
  /** Writes what came out of a piece, before the next is read. */
  const flush = async () => {
    while (events.length > 0) {
      const batch = events.splice(0, BATCH);
      await target.send(batch);
      sent += batch.length;
    }
    await letters?.send(rejected.splice(0));
    if (total < PROGRESS_BYTES) return;
    progress.update(readBytes, `${converter.events.toLocaleString('en-US')} events`);
  };
  const paced = inputs.map(({ name, open }) => ({ name, open: () => afterEach(open(), flush) }));
  try {
    await format.convert(paced, convertOptions(options), converter);
    await flush();
  } catch (error) {
    progress.finish();
    // Both errors of a target are the same one.
    await Promise.allSettled([target.close(), letters?.close()]);
    throw withWritten(error, sent, { name: target.name, isTopic: options.to === 'kafka' });
  }
  progress.finish();
  await target.close();
  await letters?.close();
  report(converter, found, target.name, io);
  const isAllSkipped = converter.events === 0 && converter.skipped > 0;
  return converter.rejected > 0 || isAllSkipped ? exitCodes.found : exitCodes.ok;
}

/** A file that breaks off near its beginning is found before anything is written. */
async function openInputs(
  files: readonly string[],
  onBytes: (bytes: number) => void,
): Promise<readonly OpenedInput[]> {
  try {
    return await Promise.all(files.map((path) => openInput(path, onBytes)));
  } catch (error) {
    throw withWritten(error, 0, undefined);
  }
}

/** The first file that holds something: another log may be empty. @throws OperatorError if all are empty */
function firstFilled(inputs: readonly OpenedInput[], files: readonly string[]): OpenedInput {
  const filled = inputs.find(({ isEmpty }) => !isEmpty);
  if (filled !== undefined) return filled;
  const isOne = files.length === 1;
  const hint = 'Give a file that holds records: a log may have been rotated.';
  throw unreadable(files.join(', '), isOne ? 'it is empty' : 'they are empty', hint);
}

function convertOptions({ model, start }: Options): ConvertOptions {
  return {
    model: model === undefined ? undefined : String(model),
    startMs: start === undefined ? undefined : parseStart(String(start), Date.now()),
  };
}

function weightOf(given: unknown): number | undefined {
  return given === undefined ? undefined : countOption('--weight', given, 1, limits.eventWeight);
}

async function* afterEach(
  pieces: AsyncIterable<Buffer>,
  run: () => Promise<void>,
): AsyncGenerator<Buffer, void> {
  for await (const piece of pieces) {
    yield piece;
    await run();
  }
}

/** Records are those of an Avro container where the file is one, else JSON lines. */
async function chooseWith(
  { format: name, mapping }: Options,
  first: OpenedInput,
  found: FoundFields,
): Promise<ReturnType<typeof chooseFormat>> {
  if (mapping === undefined) return chooseFormat(String(name), first);
  const isContainer = avroContainer.recognise(first.head, first.name) !== undefined;
  const formatOf = isContainer ? mappedContainer : mappedFormat;
  const path = String(mapping);
  const format = await formatOfMapping(path, (text) => formatOf(text, path, found));
  return { format, because: undefined };
}

/** @throws OperatorError for a mapping that cannot be read, with every problem in it. */
async function formatOfMapping(
  path: string,
  formatOf: (text: string) => FileFormat,
): Promise<FileFormat> {
  try {
    return formatOf(await readFile(path, 'utf8'));
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const hint = 'Give the YAML of a mapping; config/presets has some to copy.';
    throw unreadable(path, messageOf(error), hint);
  }
}

function openTarget(to: string, options: Options, io: Io): Promise<TrafficTarget> | TrafficTarget {
  if (to === 'kafka') return openTopic(openKafka, options, io);
  return to === 'stdout' || to === '-' ? openStdout(io) : openFile(to);
}

function letterOf({ reason, detail, origin }: Rejected): OutgoingMessage {
  const bytes = origin.bytes().subarray(0, limits.deadLetterBytes);
  return { value: JSON.stringify({ reason, detail, bytes: bytes.toString('utf8') }) };
}

function report(converter: Converter, found: FoundFields, name: string, io: Io): void {
  const { events, rejected, skipped, reasons } = converter;
  const number = (n: number) => n.toLocaleString('en-US');
  const why = [...reasons]
    .sort(([, a], [, b]) => b - a)
    .map(([reason, n]) => `${reason} ${number(n)}`)
    .join(', ');
  const parts = [
    `${eventsOf(events)} to ${name}`,
    ...(rejected === 0 ? [] : [`${number(rejected)} rejected (${why})`]),
    ...(skipped === 0
      ? []
      : [`${number(skipped)} skipped: no rule maps them to an event, or they come again`]),
  ];
  const notes = [converter.longTexts.summary(), found.missing()].flatMap((note) => note ?? []);
  io.err(`${[parts.join(', '), ...notes].join('; ')}\n`);
}
