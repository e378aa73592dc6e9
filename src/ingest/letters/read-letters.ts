import { OperatorError } from '../../base/operator-error.ts';
import type { Config } from '../../config/schema.ts';
import { followTopic, type TopicMessage } from '../../kafka/follow-topic.ts';
import type { LogBounds } from '../../kafka/log-bounds.ts';
import { type LetterOrigin, originOf } from './dead-letter.ts';

/** A message of a dead-letter topic. */
export interface Letter {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** undefined for a letter that is none of a single event. */
  readonly origin: LetterOrigin | undefined;
  /** Events that this letter counts, and that have no letter of their own. */
  readonly suppressed: number;
}

/** Letters that one replay takes: memory is 300 bytes each. */
const MOST_LETTERS = 200_000;
const STALLED_MS = 60_000;
const ASK_MS = 100;

/** Name of an event: its topic, partition, offset, and position in the message. */
export function letterName({ topic, partition, offset, index }: LetterOrigin): string {
  return `${topic}/${partition}/${offset}/${index}`;
}

/**
 * Reads the dead letters of all topics after those that a group has committed, by partition in their order. A
 * dead-letter topic that does not exist has none.
 *
 * @returns at most 200,000, and how many are left
 */
export async function readLetters(
  config: Config['kafka'],
  bounds: LogBounds,
  groupId: string,
): Promise<{ readonly letters: readonly Letter[]; readonly left: number }> {
  const letters: Letter[] = [];
  let left = 0;
  for (const source of config.topics) {
    const topic = `${source}${config.dead_letter_suffix}`;
    const ranges = await rangesOf(bounds, groupId, topic);
    const due = [...ranges.values()].reduce((sum, { from, to }) => sum + to - from, 0);
    if (due === 0) continue;
    const most = MOST_LETTERS - letters.length;
    const found = most > 0 ? await readRanges(config, topic, ranges, Math.min(due, most)) : [];
    letters.push(...found);
    left += due - found.length;
  }
  return { letters, left };
}

interface Range {
  readonly from: number;
  readonly to: number;
}

async function rangesOf(
  bounds: LogBounds,
  groupId: string,
  topic: string,
): Promise<Map<number, Range>> {
  const found = await bounds.of(topic);
  if (found.length === 0) return new Map();
  const committed = await bounds.committed(groupId, topic);
  return new Map(
    found.map(({ partition, low, high }) => {
      const from = Math.max(low, committed.get(partition) ?? 0);
      return [partition, { from, to: Math.max(from, high) }];
    }),
  );
}

async function readRanges(
  config: Config['kafka'],
  topic: string,
  ranges: ReadonlyMap<number, Range>,
  count: number,
): Promise<Letter[]> {
  const found: Letter[] = [];
  let seen = 0;
  const followed = await followTopic(config, topic, (message) => {
    seen++;
    const { from = 0, to = 0 } = ranges.get(message.partition) ?? {};
    if (message.offset >= from && message.offset < to) found.push(letterOf(topic, message));
  });
  try {
    for (let [before, idleMs] = [-1, 0]; found.length < count; idleMs += ASK_MS) {
      if (seen !== before) [before, idleMs] = [seen, 0];
      if (idleMs > STALLED_MS) throw stalled(topic, found.length, count);
      await new Promise((resolve) => setTimeout(resolve, ASK_MS));
    }
  } finally {
    await followed.stop();
  }
  found.sort((a, b) => a.partition - b.partition || a.offset - b.offset);
  return found.slice(0, count);
}

function letterOf(topic: string, { partition, offset, headers }: TopicMessage): Letter {
  const suppressed = Number(headers['tailmark-suppressed'] ?? 0);
  const origin = originOf(headers);
  return {
    ...{ topic, partition, offset, origin },
    suppressed: Number.isSafeInteger(suppressed) && suppressed > 0 ? suppressed : 0,
  };
}

function stalled(topic: string, found: number, due: number): OperatorError {
  return new OperatorError(
    'TAILMARK_KAFKA_FAILED',
    `Cannot read topic ${topic}: ${due} dead letters must arrive; ${found} did, then none for a minute`,
    { hint: 'Look at the brokers, then start again: nothing was sent twice.' },
  );
}
