import { type Clock, systemClock } from '../base/clock.ts';
import { messageOf } from '../base/failure.ts';
import { OperatorError } from '../base/operator-error.ts';
import { failedProbe, type ProbeFinding } from '../base/probe-finding.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type { Config } from '../config/schema.ts';
import { LogBounds } from '../kafka/log-bounds.ts';
import { OffsetReader, type WantedRecords } from '../kafka/offset-reader.ts';
import type { SourceRecord } from '../source/record.ts';
import { openRegistry } from './open-registry.ts';
import { TopicFormats } from './topic-formats.ts';
import { type SampleSummary, TopicSample } from './topic-sample.ts';

/** Newest records of a topic that are read. */
const recordsRead = 20;
/** Records of a log may be gone or hidden: those that came by then count. */
const longestReadMs = 8_000;

/** Copies of what a record holds. */
type Sampled = Pick<SourceRecord, 'value' | 'headers'>;

/** Reads the newest records of each topic, and says what its format makes of them: one finding a topic. */
export async function probeTopics(
  config: Config,
  log: Logger,
  clock: Clock = systemClock,
): Promise<ProbeFinding[]> {
  const requests = { inc: () => undefined };
  const schemas = openRegistry(config, { clock, log, requests });
  const formats = TopicFormats.open({ ...config, source: { type: 'kafka' } }, schemas);
  const { kafka } = config;
  const done = new AbortController();
  let bounds: LogBounds | undefined;
  let reader: OffsetReader | undefined;
  try {
    bounds = await LogBounds.open(kafka);
    const wanted: WantedRecords[] = [];
    for (const topic of kafka.topics) wanted.push(...(await newestOf(bounds, topic)));
    const samples = new Map<string, Sampled[]>(kafka.topics.map((topic) => [topic, []]));
    if (wanted.length > 0) {
      reader = await OffsetReader.open(kafka, kafka.topics, config.limits.max_batch_bytes);
      const read = reader.read(wanted, ({ topic, value, headers, refused }) => {
        if (refused !== undefined) return;
        const copies = [...(headers?.() ?? [])].map(
          ([name, of]) => [name, Buffer.from(of)] as const,
        );
        samples.get(topic)?.push({
          value: value && Buffer.from(value),
          headers: () => new Map(copies),
        });
      });
      await Promise.race([read, clock.sleep(longestReadMs, done.signal)]);
      read.catch(() => undefined);
    }
    return await Promise.all(
      kafka.topics.map(async (topic) => {
        const found = findingOf(topic, samples.get(topic) ?? [], formats, config);
        found.catch(() => undefined);
        const late = clock.sleep(longestReadMs, done.signal).then(() => unansweredFinding(topic));
        return Promise.race([found, late]);
      }),
    );
  } catch (error) {
    const detail = `records are not read: ${messageOf(error)}`;
    return [{ ok: true, isWarning: true, what: 'Kafka records', detail }];
  } finally {
    done.abort();
    schemas?.close();
    await Promise.allSettled([bounds?.close(), reader?.close()]);
  }
}

/** The newest records of a topic, as many of each partition. */
async function newestOf(bounds: LogBounds, topic: string): Promise<WantedRecords[]> {
  const partitions = (await bounds.of(topic)).filter(({ low, high }) => high > low);
  const each = Math.max(1, Math.floor(recordsRead / Math.max(1, partitions.length)));
  return partitions.slice(0, recordsRead).map(({ partition, low, high }) => {
    const first = Math.max(low, high - each);
    const offsets = Array.from({ length: high - first }, (_, i) => first + i);
    return { topic, partition, offsets };
  });
}

function unansweredFinding(topic: string): ProbeFinding {
  const detail = 'the schema registry does not give the schemas of its newest records';
  const hint =
    'Look at schema_registry.url: until it responds, this topic waits and nothing is lost.';
  return { ok: false, what: `topic ${topic}`, detail, hint };
}

async function findingOf(
  topic: string,
  records: readonly Sampled[],
  formats: TopicFormats,
  { kafka, limits }: Config,
): Promise<ProbeFinding> {
  const format = kafka.formats[topic]?.format ?? 'timing';
  const what = `topic ${topic} (${format})`;
  if (records.length === 0) return { ok: true, what, detail: 'no records yet' };
  const sample = new TopicSample();
  const decoder = formats.decoderOf(topic, {
    stages: sample.stages,
    values: sample.values,
    maxMessageBytes: limits.max_message_bytes,
    maxDurationMs: limits.max_duration,
    maxDimensionBytes: limits.max_dimension_bytes,
  });
  for (const { value, headers } of records) await sample.add(decoder, value, headers);
  return findingFrom(sample.summary(), records.length, what);
}

/** The finding of a topic by what its newest records are. */
export function findingFrom(
  { events, unmapped, rejected, firstReject, models, stages }: SampleSummary,
  records: number,
  what: string,
): ProbeFinding {
  const parts = [
    `${events} requests`,
    ...(models.length === 0 ? [] : [`of ${models.join(', ')}`]),
    ...(stages.length === 0 ? [] : [`with ${stages.join(', ')}`]),
  ];
  const others = [
    ...(unmapped === 0 ? [] : [`${unmapped} that no rule maps`]),
    ...(firstReject === undefined
      ? []
      : [`${rejected} rejected: ${firstReject.reason}, ${firstReject.detail}`]),
  ];
  const detail = [`the newest ${records} records hold ${parts.join(' ')}`, ...others].join('; ');
  if (events > 0) return { ok: true, isWarning: rejected > 0, what, detail };
  if (rejected === 0) {
    const hint =
      'No request is counted: look at the preset of this topic. Requests that are many spans need rules, or the role assemble (docs/how-to/formats.md).';
    return { ok: true, isWarning: true, what, detail, hint };
  }
  const error = new OperatorError('TAILMARK_CONFIG_INVALID', detail, {
    hint: 'Compare its format, preset, mapping and unwrap in kafka.topics with what writes to it.',
  });
  return failedProbe(what, error);
}
