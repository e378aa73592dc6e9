import { type Clock, systemClock } from '../base/clock.ts';
import { OperatorError } from '../base/operator-error.ts';
import { failedProbe, type ProbeFinding } from '../base/probe-finding.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type { Config } from '../config/schema.ts';
import { longestReadMs, type NewestRecord, readNewest, unreadFinding } from './newest-records.ts';
import { openRegistry } from './open-registry.ts';
import { rejectedText } from './rejects.ts';
import { withSampling } from './tail-sampled.ts';
import { TopicFormats } from './topic-formats.ts';
import { type SampleSummary, TopicSample } from './topic-sample.ts';

/** Newest records of a topic that are read. */
const recordsRead = 20;
/** Reads the newest records of each topic, and says what its format makes of them: one finding a topic. */
export async function probeTopics(
  config: Config,
  log: Logger,
  clock: Clock = systemClock,
): Promise<ProbeFinding[]> {
  const requests = { inc: () => undefined };
  const schemas = openRegistry(config, { clock, log, requests, waitsForNew: false });
  const formats = TopicFormats.open({ ...config, source: { type: 'kafka' } }, schemas);
  const { topics } = config.kafka;
  const done = new AbortController();
  try {
    const newest = await readNewest(config, topics, recordsRead, clock);
    return await Promise.all(
      topics.map(async (topic) => {
        const found = findingOf(topic, newest.get(topic)?.records ?? [], formats, config);
        found.catch(() => undefined);
        const late = clock
          .sleep(longestReadMs, done.signal)
          .then(() => unansweredFinding(topic, schemas?.failure));
        return Promise.race([found, late]);
      }),
    );
  } catch (error) {
    return [unreadFinding(error)];
  } finally {
    done.abort();
    schemas?.close();
  }
}

/** @param failure what the registry did last, where it failed. */
function unansweredFinding(topic: string, failure: string | undefined): ProbeFinding {
  const how = failure === undefined ? '' : `: ${failure}`;
  const detail = `the schema registry does not give the schemas of its newest records${how}`;
  const hint =
    'Look at schema_registry: until it gives them, this topic waits and nothing is lost.';
  return { ok: false, what: `topic ${topic}`, detail, hint };
}

async function findingOf(
  topic: string,
  records: readonly NewestRecord[],
  formats: TopicFormats,
  { kafka, limits }: Config,
): Promise<ProbeFinding> {
  const format = kafka.formats[topic]?.format ?? 'timing';
  const what = `topic ${topic} (${format})`;
  if (records.length === 0) return { ok: true, what, detail: 'no records yet' };
  const sample = new TopicSample();
  const bounds = {
    stages: sample.stages,
    values: sample.values,
    maxMessageBytes: limits.max_message_bytes,
    maxDurationMs: limits.max_duration,
    maxDimensionBytes: limits.max_dimension_bytes,
  };
  const decoder = formats.decoderOf(topic, bounds, sample.found);
  for (const { value, headers } of records) await sample.add(decoder, value, headers);
  return withSampling(findingFrom(sample.summary(), records.length, what), records);
}

/** The finding of a topic by what its newest records are. */
export function findingFrom(
  { events, unmapped, rejects, models, stages, longTexts, missing }: SampleSummary,
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
    ...rejectedText(rejects),
    ...(longTexts === undefined ? [] : [longTexts]),
    ...(missing === undefined ? [] : [missing]),
  ];
  const detail = [`the newest ${records} records hold ${parts.join(' ')}`, ...others].join('; ');
  if (events > 0 && missing !== undefined) {
    const hint =
      'Compare their paths in its mapping with the records; leave out what they never have.';
    return { ok: true, isWarning: true, what, detail, hint };
  }
  if (events > 0) {
    return { ok: true, isWarning: rejects.length > 0 || longTexts !== undefined, what, detail };
  }
  if (rejects.length === 0) {
    const hint =
      'No request is counted: look at the preset of this topic. Requests that are many spans need rules, or the role assemble (docs/how-to/formats.md).';
    return { ok: true, isWarning: true, what, detail, hint };
  }
  const error = new OperatorError('TAILMARK_CONFIG_INVALID', detail, {
    hint: 'Compare its format, preset, mapping and unwrap in kafka.topics with what writes to it.',
  });
  return failedProbe(what, error);
}
