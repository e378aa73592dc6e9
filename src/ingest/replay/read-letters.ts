import { OperatorError } from '../../base/operator-error.ts';
import { minuteMs } from '../../base/time.ts';
import type { Config } from '../../config/schema.ts';
import type { RejectReason } from '../../decode/reject-reasons.ts';
import type { KafkaAdmin } from '../../kafka/client/kafka-admin.ts';
import type { Reached } from '../../kafka/client/transactional-publisher.ts';
import { followTopic, type TopicMessage } from '../../kafka/follow-topic.ts';
import { type LetterOrigin, originOf } from '../letters/dead-letter.ts';

/** A message of a dead-letter topic. */
export interface Letter {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** undefined for a letter that is none of a single event. */
  readonly origin: LetterOrigin | undefined;
  /** Events that this letter counts, and that have no separate letter. */
  readonly suppressed: number;
  /** Offset up to which earlier replays have taken the letters of a reason, in this partition. */
  readonly doneOf: ReadonlyMap<RejectReason, number>;
}

/** Letters that one replay takes: memory is 300 bytes each. */
const MOST_LETTERS = 200_000;
const STALLED_MS = minuteMs;
const ASK_MS = 100;

/** Name of an event: its topic, partition, offset, and position in the message. */
export function letterName({ topic, partition, offset, index }: LetterOrigin): string {
  return `${topic}/${partition}/${offset}/${index}`;
}

/**
 * Reads the dead letters of all topics after those that the groups of all reasons have committed, by partition
 * in their order. A dead-letter topic that does not exist has none. Offsets are no count of letters: the role
 * assemble writes them in transactions, whose markers have offsets too.
 *
 * @returns at most 200,000, and how many are left
 */
export async function readLetters(
  config: Config['kafka'],
  admin: KafkaAdmin,
  groupIds: ReadonlyMap<RejectReason, string>,
): Promise<{ readonly letters: readonly Letter[]; readonly left: number }> {
  const letters: Letter[] = [];
  let left = 0;
  for (const source of config.topics) {
    const topic = `${source}${config.dead_letter_suffix}`;
    const ranges = await rangesOf(admin, groupIds, topic);
    if ([...ranges.values()].every(({ from, to }) => from === to)) continue;
    const read = await readRanges(config, topic, ranges, MOST_LETTERS - letters.length);
    letters.push(...read.letters);
    left += read.left;
  }
  return { letters, left };
}

interface Range {
  readonly from: number;
  readonly to: number;
  /** Offset up to which letters of a reason are done. */
  readonly doneOf: ReadonlyMap<RejectReason, number>;
}

async function rangesOf(
  admin: KafkaAdmin,
  groupIds: ReadonlyMap<RejectReason, string>,
  topic: string,
): Promise<Map<number, Range>> {
  const found = await admin.rangesOfAll(topic);
  if (found.length === 0) return new Map();
  const committed = new Map<RejectReason, ReadonlyMap<number, number>>();
  for (const [reason, groupId] of groupIds) {
    const commits = await admin.commitsOf(groupId, topic);
    committed.set(reason, new Map(commits.map(({ partition, offset }) => [partition, offset])));
  }
  return new Map(
    found.map(({ partition, low, high }) => {
      const done = [...committed].map(([reason, of]) => [reason, of.get(partition) ?? 0] as const);
      const from = Math.max(low, Math.min(...done.map(([, offset]) => offset)));
      return [partition, { from, to: Math.max(from, high), doneOf: new Map(done) }];
    }),
  );
}

async function readRanges(
  config: Config['kafka'],
  topic: string,
  ranges: ReadonlyMap<number, Range>,
  most: number,
): Promise<{ readonly letters: Letter[]; readonly left: number }> {
  const letters: Letter[] = [];
  let [seen, left] = [0, 0];
  const followed = await followTopic(config, topic, (message) => {
    seen++;
    const range = ranges.get(message.partition);
    if (range === undefined || message.offset < range.from || message.offset >= range.to) return;
    if (letters.length < most) letters.push(letterOf(topic, message, range));
    else left++;
  });
  const isPassed = ([partition, { from, to }]: [number, Range]) =>
    from === to || (followed.positions.get(partition) ?? 0) >= to;
  try {
    for (let [before, idleMs] = [-1, 0]; ![...ranges].every(isPassed); idleMs += ASK_MS) {
      if (seen !== before) [before, idleMs] = [seen, 0];
      if (idleMs > STALLED_MS) throw stalled(topic, letters.length + left);
      await new Promise((resolve) => setTimeout(resolve, ASK_MS));
    }
  } finally {
    await followed.stop();
  }
  letters.sort((a, b) => a.partition - b.partition || a.offset - b.offset);
  return { letters, left };
}

/**
 * The places after letters, by group: the last of each partition. A group that is further already keeps its
 * place, as another reason may be read from an earlier one.
 */
export function placesAfter(
  letters: readonly Letter[],
  groupIds: ReadonlyMap<RejectReason, string>,
): Map<string, Reached[]> {
  const last = new Map(letters.map((letter) => [`${letter.topic}/${letter.partition}`, letter]));
  const places = new Map<string, Reached[]>();
  for (const [reason, groupId] of groupIds) {
    const further = [...last.values()].filter(
      ({ offset, doneOf }) => offset >= (doneOf.get(reason) ?? 0),
    );
    if (further.length === 0) continue;
    places.set(
      groupId,
      further.map(({ topic, partition, offset }) => ({ topic, partition, offset: offset + 1 })),
    );
  }
  return places;
}

function letterOf(
  topic: string,
  { partition, offset, headers }: TopicMessage,
  { doneOf }: Range,
): Letter {
  const suppressed = Number(headers['tailmark-suppressed'] ?? 0);
  const origin = originOf(headers);
  return {
    ...{ topic, partition, offset, origin },
    suppressed: Number.isSafeInteger(suppressed) && suppressed > 0 ? suppressed : 0,
    doneOf,
  };
}

function stalled(topic: string, found: number): OperatorError {
  return new OperatorError(
    'TAILMARK_KAFKA_FAILED',
    `Cannot read topic ${topic} to its end: ${found} dead letters came, then none for a minute`,
    { hint: 'Look at the brokers, then start again: nothing was sent twice.' },
  );
}
