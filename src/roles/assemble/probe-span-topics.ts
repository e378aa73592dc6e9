import { keyAdvice, traceReader } from '../../assemble/span-formats.ts';
import { freshStart } from '../../assemble/trace-assembler.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { failedProbe, type ProbeFinding } from '../../base/probe-finding.ts';
import type { AssembleTopic } from '../../config/assemble.ts';
import type { Config } from '../../config/schema.ts';
import { RecordList } from '../../source/record.ts';
import {
  type NewestRecord,
  type NewestRecords,
  readNewest,
  unreadFinding,
} from '../../topics/newest-records.ts';
import { assembleConfigOf } from './assemble-topics.ts';
import { EventCheck } from './event-check.ts';
import { PartitionAssembly } from './partition-assembly.ts';
import { rulesOf, settingsOf } from './topic-rules.ts';

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
      return spanFinding(entry, found, config);
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
  const { spans, traces, roots, models, stages, rejects } = sampleOf(entry, records, config);
  const keys = keysOf(entry, records);
  const [reject] = [...rejects].sort(([, a], [, b]) => b.count - a.count);
  const rejected = [...rejects.values()].reduce((sum, { count }) => sum + count, 0);
  const held = [
    `${spans} spans of ${traces} traces, ${roots} of them with their root`,
    ...(models.size === 0 ? [] : [`of ${listed(models)}`]),
    ...(stages.size === 0 ? [] : [`with ${listed(stages)}`]),
  ];
  const detail = [
    `the newest ${records.length} records hold ${held.join(' ')}`,
    ...(spans === 0 ? [] : [keys]),
    ...(reject === undefined ? [] : [`${rejected} rejected: ${reject[0]}, ${reject[1].detail}`]),
  ].join('; ');
  if (spans === 0) {
    const hint = 'Compare its format in assemble.topics with what writes to it.';
    return failedProbe(what, new OperatorError('TAILMARK_CONFIG_INVALID', detail, { hint }));
  }
  if (partitions > 1 && keys !== KEYED) {
    const hint = `Spans of a trace lie in several partitions: ${keyAdvice(format)}.`;
    return { ok: true, isWarning: true, what, detail, hint };
  }
  if (roots === 0) {
    const hint =
      'Name the root by root_names in assemble.topics, if it has a parent elsewhere or another name.';
    return { ok: true, isWarning: true, what, detail, hint };
  }
  return { ok: true, isWarning: rejected > 0, what, detail };
}

/** What the role assemble makes of records that are all there is. */
function sampleOf(entry: AssembleTopic, records: readonly NewestRecord[], config: Config) {
  const settings = settingsOf(config.assemble);
  const rules = rulesOf(entry);
  const sample = {
    ...{ spans: 0, traces: 0, roots: 0 },
    models: new Set<string>(),
    stages: new Set<string>(),
    rejects: new Map<string, { count: number; detail: string }>(),
  };
  const { topic, format } = entry;
  for (const partition of new Set(records.map((record) => record.partition))) {
    const some = records.filter((record) => record.partition === partition);
    const assembly = new PartitionAssembly({
      ...{ topic, partition, logId: '', restart: freshStart(0, settings), settings, format, rules },
      ...{ read: traceReader(format, rules), check: new EventCheck(config) },
      maxMessageBytes: config.limits.max_message_bytes,
    });
    const list = new RecordList(
      some.map(({ value }, offset) => ({ offset, timestampMs: 1, value })),
    );
    const range = { fetchOffset: 0, nextOffset: some.length, highWatermark: some.length };
    while (assembly.take({ topic, partition, ...range, records: list }, some.length));
    while (assembly.tickAfterMs !== undefined) assembly.tick();
    const { events, letters, counts } = assembly.publication();
    const closed = [...counts.closed.values()].reduce((sum, n) => sum + n, 0);
    // Their roots may be in older records.
    const rootless = counts.rejected.get('no_root') ?? 0;
    sample.spans += counts.spans;
    sample.traces += closed;
    sample.roots += closed - rootless;
    for (const line of events.flatMap((message) => message.toString().split('\n'))) {
      const event = JSON.parse(line) as { model: string; stages_ms: object };
      sample.models.add(event.model);
      for (const stage of Object.keys(event.stages_ms)) sample.stages.add(stage);
    }
    for (const { reason, detail } of letters) {
      if (reason === 'no_root') continue;
      const { count, detail: first } = sample.rejects.get(reason) ?? { count: 0, detail };
      sample.rejects.set(reason, { count: count + 1, detail: first });
    }
  }
  return sample;
}

const KEYED = 'their keys are trace ids';

/** Says of records whose spans can be read what their keys are. */
function keysOf(entry: AssembleTopic, records: readonly NewestRecord[]): string {
  const read = traceReader(entry.format, rulesOf(entry));
  let [keyless, foreign] = [0, 0];
  for (const { key, value } of records) {
    const traceIds = new Set<string>();
    if (value !== null) {
      read(value, { span: (traceId) => traceIds.add(traceId), malformed: () => undefined });
    }
    if (traceIds.size === 0) continue;
    if (key === null) keyless++;
    else if (![...traceIds].every((traceId) => isKey(key, traceId))) foreign++;
  }
  if (keyless > 0) return `${keyless} have no key`;
  return foreign > 0 ? `the keys of ${foreign} are not their trace ids` : KEYED;
}

/** A key is a trace id in hexadecimal digits, perhaps without its leading zeros, or in bytes. */
function isKey(key: Buffer, traceId: string): boolean {
  const digits = (text: string) => text.toLowerCase().replace(/^0+/, '');
  return [key.toString('utf8'), key.toString('hex')].map(digits).includes(digits(traceId));
}

function listed(names: ReadonlySet<string>): string {
  const some = [...names].slice(0, MOST_NAMES);
  return [...some, ...(names.size > MOST_NAMES ? [`${names.size - MOST_NAMES} more`] : [])].join(
    ', ',
  );
}
