import { keyAdvice, type TraceReader, traceReader } from '../../assemble/event/span-formats.ts';
import { freshStart } from '../../assemble/trace-assembler.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { failedProbe, type ProbeFinding } from '../../base/probe-finding.ts';
import type { AssembleTopic } from '../../config/assemble.ts';
import type { Config } from '../../config/schema.ts';
import { lowHalfOf } from '../../formats/spans/trace/ids.ts';
import { RecordList } from '../../source/record.ts';
import {
  type NewestRecord,
  type NewestRecords,
  readNewest,
  unreadFinding,
} from '../../topics/newest-records.ts';
import { Rejects, rejectedText } from '../../topics/rejects.ts';
import { withSampling } from '../../topics/tail-sampled.ts';
import { assembleConfigOf } from './assemble-topics.ts';
import { EventCheck } from './event-check.ts';
import { PartitionAssembly } from './partition-assembly.ts';
import { rulesOf, settingsOf } from './topic-rules.ts';
import { traceIdOf } from './trace-letter.ts';

/** Newest records of a topic that are read: Jaeger writes one for each span. */
const RECORDS_READ = 100;
/** Names that are listed. */
const MOST_NAMES = 8;

/** Reads the newest records of each topic of spans, and says what is made of them: one finding a topic. */
export async function probeSpanTopics(
  config: Config,
  clock: Clock = systemClock,
): Promise<ProbeFinding[]> {
  const { topics } = assembleConfigOf(config);
  const names = topics.map(({ topic }) => topic);
  try {
    const newest = await readNewest(config, names, RECORDS_READ, clock);
    return topics.map((entry) => {
      const found = newest.get(entry.topic) ?? { partitions: 0, records: [] };
      return withSampling(spanFinding(entry, found, config), found.records);
    });
  } catch (error) {
    return [unreadFinding(error)];
  }
}

/** The finding of a topic by what the role assemble makes of its newest records. */
export function spanFinding(
  entry: AssembleTopic,
  { partitions, records }: NewestRecords,
  config: Config,
): ProbeFinding {
  const { topic, format } = entry;
  const what = `topic ${topic} (${format})`;
  if (records.length === 0) return { ok: true, what, detail: 'no records yet' };
  const sample = sampleOf(entry, records, config);
  const { spans, traces, rooted, split, events, models, stages, rejects } = sample;
  const keys = keysOf(entry, records);
  const held = [
    `${spans} spans of ${traces} traces, ${rooted} of them with their root`,
    ...(models.size === 0 ? [] : [`of ${listed(models)}`]),
    ...(stages.size === 0 ? [] : [`with ${listed(stages)}`]),
  ];
  const detail = [
    `the newest ${records.length} records hold ${held.join(' ')}`,
    ...(spans === 0 ? [] : [keys]),
    ...(split === 0 ? [] : [`${split} of the traces lie in several partitions`]),
    ...rejectedText(rejects),
  ].join('; ');
  if (spans === 0) {
    const hint = 'Compare its format in assemble.topics with what writes to it.';
    return failedProbe(what, new OperatorError('TAILMARK_CONFIG_INVALID', detail, { hint }));
  }
  if (split > 0) {
    const remedy =
      keys === KEYED
        ? 'let all producers choose the partition by the key alone; where partitions were added, wait until older records are read'
        : keyAdvice(format);
    const hint = `No process sees all of such a trace, so its event lacks stages: ${remedy}.`;
    return failedProbe(what, new OperatorError('TAILMARK_CONFIG_INVALID', detail, { hint }));
  }
  if (rooted > 0 && events === 0) {
    const hint =
      'No trace gives an event: compare stages, fields and root_names in assemble.topics with its spans.';
    return failedProbe(what, new OperatorError('TAILMARK_CONFIG_INVALID', detail, { hint }));
  }
  if (partitions > 1 && keys !== KEYED) {
    const hint = `Spans of a trace may lie in several partitions: ${keyAdvice(format)}.`;
    return { ok: true, isWarning: true, what, detail, hint };
  }
  if (rooted === 0) {
    const hint =
      'Name the root by root_names in assemble.topics, if it has a parent elsewhere or another name.';
    return { ok: true, isWarning: true, what, detail, hint };
  }
  return { ok: true, isWarning: rejects.length > 0, what, detail };
}

/** Result of the role assemble for these records alone. */
function sampleOf(entry: AssembleTopic, records: readonly NewestRecord[], config: Config) {
  const settings = settingsOf(config.assemble);
  const rules = rulesOf(entry);
  const read = traceReader(entry.format, rules);
  let [spans, eventCount] = [0, 0];
  const models = new Set<string>();
  const stages = new Set<string>();
  const rejects = new Rejects();
  /** Number of partitions that a trace lies in. */
  const partitionsOf = new Map<string, number>();
  const rooted = new Set<string>();
  const { topic, format } = entry;
  for (const partition of new Set(records.map((record) => record.partition))) {
    const some = records.filter((record) => record.partition === partition);
    const assembly = new PartitionAssembly({
      ...{ topic, partition, logId: '', output: '', format, rules, read },
      ...{ restart: freshStart(0, settings), settings, check: new EventCheck(config) },
      maxMessageBytes: config.limits.max_message_bytes,
    });
    const list = new RecordList(
      some.map(({ value }, offset) => ({ offset, timestampMs: 1, value })),
    );
    const range = { fetchOffset: 0, nextOffset: some.length, highWatermark: some.length };
    while (assembly.take({ topic, partition, ...range, records: list }, some.length));
    while (assembly.tickAfterMs !== undefined) assembly.tick();
    const { events, letters, counts } = assembly.publication();
    spans += counts.spans;
    for (const line of events.flatMap((message) => message.toString().split('\n'))) {
      eventCount++;
      const event = JSON.parse(line) as { model: string; stages_ms: object };
      models.add(event.model);
      for (const stage of Object.keys(event.stages_ms)) stages.add(stage);
    }
    // Their roots may be in older records, or in another partition.
    const rootless = new Set<string>();
    for (const { reason, detail, bytes } of letters) {
      if (reason === 'no_root') rootless.add(lowHalfOf(traceIdOf(bytes) ?? ''));
      else rejects.add(reason, detail);
    }
    const ids = new Set(some.flatMap(({ value }) => [...traceIdsOf(read, value)]));
    for (const id of ids) {
      partitionsOf.set(id, (partitionsOf.get(id) ?? 0) + 1);
      if (!rootless.has(id)) rooted.add(id);
    }
  }
  const split = [...partitionsOf.values()].filter((count) => count > 1).length;
  return {
    ...{ spans, traces: partitionsOf.size, rooted: rooted.size, split, events: eventCount },
    ...{ models, stages, rejects: rejects.list() },
  };
}

/** Ids of the traces whose spans a message holds, of each the digits that all of its spans have. */
function traceIdsOf(read: TraceReader, message: Buffer | null): Set<string> {
  const ids = new Set<string>();
  if (message === null) return ids;
  read(message, { span: (traceId) => ids.add(lowHalfOf(traceId)), malformed: () => undefined });
  return ids;
}

const KEYED = 'their keys are trace ids';

/** Says of records whose spans can be read what their keys are. */
function keysOf(entry: AssembleTopic, records: readonly NewestRecord[]): string {
  const read = traceReader(entry.format, rulesOf(entry));
  let [keyless, foreign] = [0, 0];
  for (const { key, value } of records) {
    const traceIds = traceIdsOf(read, value);
    if (traceIds.size === 0) continue;
    if (key === null) keyless++;
    else if (![...traceIds].every((traceId) => isKey(key, traceId))) foreign++;
  }
  if (keyless > 0) return `${keyless} have no key`;
  return foreign > 0 ? `the keys of ${foreign} are not their trace ids` : KEYED;
}

/** A key is a trace id in hexadecimal digits, perhaps without its leading zeros, or in bytes. */
function isKey(key: Buffer, traceId: string): boolean {
  return [key.toString('utf8').toLowerCase(), key.toString('hex')].map(lowHalfOf).includes(traceId);
}

function listed(names: ReadonlySet<string>): string {
  const some = [...names].slice(0, MOST_NAMES);
  return [...some, ...(names.size > MOST_NAMES ? [`${names.size - MOST_NAMES} more`] : [])].join(
    ', ',
  );
}
