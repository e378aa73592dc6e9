import { OperatorError } from '../../base/operator-error.ts';
import type { Config } from '../../config/schema.ts';
import { type RejectReason, rejectReasons } from '../../decode/reject-reasons.ts';
import { KafkaAdmin, type PartitionRange } from '../../kafka/client/kafka-admin.ts';
import { kafkaError } from '../../kafka/client/kafka-client.ts';
import type { OutgoingMessage } from '../../kafka/client/publisher.ts';
import { TransactionalPublisher } from '../../kafka/client/transactional-publisher.ts';
import { OffsetReader, type WantedRecords } from '../../kafka/offset-reader.ts';
import { generationOf } from '../../source/log-id.ts';
import { TopicFormats } from '../../topics/topic-formats.ts';
import { chunkSettingsOf } from '../chunk/chunk-settings.ts';
import { LetterEvents } from './letter-events.ts';
import { type Letter, letterName, placesAfter, readLetters } from './read-letters.ts';

export interface ReplayLettersOptions {
  readonly config: Config;
  readonly reasons: ReadonlySet<RejectReason>;
  /** Counts, and sends nothing. */
  readonly isDryRun: boolean;
  /** Replays letters that another group has replayed. */
  readonly isNewGroup: boolean;
}

/** Outcomes of the dead letters since the last replay. */
export interface ReplayedLetters {
  /** Events that were sent again, by reason. */
  readonly replayed: Partial<Record<RejectReason, number>>;
  /** Letters of reasons that were not asked for. */
  otherReason: number;
  /** Events whose records are gone from Kafka, cannot be decoded, or were read in part. */
  gone: number;
  /** Letters of a topic that was recreated or moved since: their offsets are of other records. */
  otherLog: number;
  /** Events that were only counted (`limits.max_dead_letters_per_second`). */
  withoutLetter: number;
  /** Letters that are left for the next replay. */
  left: number;
}

/** Letters whose events are sent in one transaction. */
const LETTERS_AT_ONCE = 500;

/**
 * Reads rejected events again from their topics, and sends them to the same partitions once more, with the
 * headers of their records. Each is sent
 * once, whatever fails: one transaction sends events and commits the place in the dead letters, in a group for
 * each reason (`<group_id>.replay.<reason>`). The next replay goes on there. Of two replays at a time, Kafka
 * ends the first.
 *
 * A truncated log keeps its ids: a letter of a record that was lost with the end of the log may bring back
 * the record that took its place.
 *
 * @throws OperatorError when Kafka does not respond, or refuses; when another group has replayed the letters.
 */
export async function replayLetters(options: ReplayLettersOptions): Promise<ReplayedLetters> {
  const { kafka, limits } = options.config;
  const name = `${kafka.group_id}.replay`;
  const groupIds = new Map([...options.reasons].map((reason) => [reason, `${name}.${reason}`]));
  const open: { close(): Promise<void> }[] = [];
  const keep = <T extends { close(): Promise<void> }>(opened: T): T => {
    open.push(opened);
    return opened;
  };
  try {
    const admin = keep(await KafkaAdmin.open(kafka, 'replay dead letters'));
    if (!options.isNewGroup) await requireOwnPlace(admin, kafka);
    // Before the place is read: an earlier replay can commit nothing after it.
    const publisher = options.isDryRun
      ? undefined
      : keep(await TransactionalPublisher.open(kafka, name));
    const { letters, left } = await readLetters(kafka, admin, groupIds);
    const done = { replayed: {}, otherReason: 0, gone: 0, otherLog: 0, withoutLetter: 0, left };
    if (letters.length === 0) return done;
    const reader = keep(await OffsetReader.open(kafka, kafka.topics, limits.max_batch_bytes));
    const sources = await sourcesOf(admin, kafka.topics);
    const replay = new LetterReplay(options, sources, reader, done);
    let committed = 0;
    try {
      await replay.run(letters, async (messages, taken) => {
        await publisher?.publish(messages, placesAfter(taken, groupIds));
        committed += countOf(messages);
      });
    } catch (error) {
      throw publisher === undefined ? error : unfinished(error, committed, kafka);
    }
    return done;
  } catch (error) {
    throw kafkaError(error, 'replay dead letters', kafka);
  } finally {
    await Promise.allSettled(open.map((opened) => opened.close()));
  }
}

function countOf(messages: ReadonlyMap<string, readonly OutgoingMessage[]>): number {
  return [...messages.values()].reduce((sum, some) => sum + some.length, 0);
}

/** Says how far a replay came. A commit whose response was lost may hold: the next replay knows. */
function unfinished(error: unknown, committed: number, kafka: Config['kafka']): OperatorError {
  const { code, message, hint } = kafkaError(error, 'replay all dead letters', kafka);
  const before = `${message}; sent and committed before that: ${committed} events`;
  const next =
    'Run the command again: it goes on after what was committed, and sends no event twice.';
  return new OperatorError(code, before, { hint: `${next} ${hint ?? ''}`.trim(), cause: error });
}

/** @throws OperatorError where another group has a place in the letters of a topic, and this one has none. */
async function requireOwnPlace(admin: KafkaAdmin, kafka: Config['kafka']): Promise<void> {
  const named = new RegExp(`^(.*)\\.replay\\.(?:${rejectReasons.join('|')})$`, 's');
  const places = (await admin.groupIds()).flatMap((id) => {
    const groupId = named.exec(id)?.[1];
    return groupId === undefined ? [] : [{ id, groupId }];
  });
  for (const source of kafka.topics) {
    const topic = `${source}${kafka.dead_letter_suffix}`;
    const groups = new Set<string>();
    for (const { id, groupId } of places) {
      if (groups.has(groupId)) continue;
      if ((await admin.commitsOf(id, topic)).length > 0) groups.add(groupId);
    }
    if (groups.size === 0 || groups.has(kafka.group_id)) continue;
    const others = [...groups].sort().join(', ');
    throw new OperatorError(
      'TAILMARK_GROUP_CONFLICT',
      `Cannot replay dead letters as kafka.group_id must be the group of the last replay: it is ${kafka.group_id}, which has never replayed ${topic}; group ${others} has`,
      {
        hint:
          `--group ${others.split(',')[0]} goes on where that one ended. --new-group sends all letters again: ` +
          'events that were replayed then count twice.',
      },
    );
  }
}

/** A topic's log: its id, and the offsets that it holds by partition. */
interface SourceLog {
  readonly logId: string;
  readonly ranges: readonly PartitionRange[];
}

async function sourcesOf(
  admin: KafkaAdmin,
  topics: readonly string[],
): Promise<Map<string, SourceLog>> {
  const logs = await admin.logs(topics);
  const sources = new Map<string, SourceLog>();
  for (const topic of topics) {
    const { logId = '' } = logs.get(topic) ?? {};
    sources.set(topic, { logId, ranges: await admin.rangesOfAll(topic) });
  }
  return sources;
}

/** The record may be overwritten before its event is sent. */
function copied(headers: ReadonlyMap<string, Buffer>): Record<string, Buffer> {
  return Object.fromEntries([...headers].map(([name, value]) => [name, Buffer.from(value)]));
}

class LetterReplay {
  readonly #options: ReplayLettersOptions;
  readonly #sources: ReadonlyMap<string, SourceLog>;
  readonly #reader: OffsetReader;
  readonly #done: ReplayedLetters;
  readonly #events: LetterEvents;
  /** Of all events that were taken: a crash of ingest may write a letter twice. */
  readonly #taken = new Set<string>();

  constructor(
    options: ReplayLettersOptions,
    sources: ReadonlyMap<string, SourceLog>,
    reader: OffsetReader,
    done: ReplayedLetters,
  ) {
    this.#options = options;
    this.#sources = sources;
    this.#reader = reader;
    this.#done = done;
    const { config } = options;
    const spanFormats = new Map(config.assemble.topics.map(({ topic, format }) => [topic, format]));
    const formats = TopicFormats.open(config);
    this.#events = new LetterEvents(chunkSettingsOf(config), formats, spanFormats);
  }

  async run(
    letters: readonly Letter[],
    publish: (
      messages: ReadonlyMap<string, readonly OutgoingMessage[]>,
      taken: readonly Letter[],
    ) => Promise<void>,
  ): Promise<void> {
    for (let from = 0; from < letters.length; from += LETTERS_AT_ONCE) {
      const some = letters.slice(from, from + LETTERS_AT_ONCE);
      const messages = await this.#messagesOf(some.filter((letter) => this.#isWanted(letter)));
      await publish(messages, some);
    }
  }

  #isWanted({ origin, offset, suppressed, doneOf }: Letter): boolean {
    this.#done.withoutLetter += suppressed;
    if (origin === undefined || offset < (doneOf.get(origin.reason) ?? 0)) return false;
    const source = this.#sources.get(origin.topic);
    const name = letterName(origin);
    if (this.#taken.has(name)) return false;
    this.#taken.add(name);
    if (!this.#options.reasons.has(origin.reason)) {
      this.#done.otherReason++;
    } else if (
      source === undefined ||
      (origin.logId !== '' && generationOf(origin.logId, source.logId) === undefined)
    ) {
      this.#done.otherLog++;
    } else {
      return true;
    }
    return false;
  }

  /** Reads the letters' events: messages by topic. */
  async #messagesOf(letters: readonly Letter[]): Promise<Map<string, OutgoingMessage[]>> {
    const byRecord = new Map<string, Letter[]>();
    for (const letter of letters) {
      const { topic, partition, offset } = letter.origin as NonNullable<Letter['origin']>;
      const record = `${topic}/${partition}/${offset}`;
      byRecord.set(record, [...(byRecord.get(record) ?? []), letter]);
    }
    const messages = new Map<string, OutgoingMessage[]>();
    let found = 0;
    await this.#reader.read(this.#wantedOf(letters), (record) => {
      const { topic, partition, offset, key, value, headers: own, refused } = record;
      if (value === null || refused !== undefined) return;
      const kept = copied(own?.() ?? new Map());
      for (const { origin } of byRecord.get(`${topic}/${partition}/${offset}`) ?? []) {
        if (origin === undefined) continue;
        const event = this.#events.find(value, origin, own);
        if (event === undefined) continue;
        found++;
        const headers = { ...kept, 'tailmark-replayed-from': letterName(origin) };
        const copies = { ...(key && { key: Buffer.from(key) }), value: Buffer.from(event) };
        const message = { partition, ...copies, headers };
        messages.set(topic, [...(messages.get(topic) ?? []), message]);
        const { replayed } = this.#done;
        replayed[origin.reason] = (replayed[origin.reason] ?? 0) + 1;
      }
    });
    this.#done.gone += letters.length - found;
    return messages;
  }

  /** Records of the letters that the logs still hold. */
  #wantedOf(letters: readonly Letter[]): WantedRecords[] {
    const byPartition = new Map<string, { topic: string; partition: number; all: Set<number> }>();
    for (const { origin } of letters) {
      if (origin === undefined) continue;
      const { topic, partition, offset } = origin;
      const { ranges = [] } = this.#sources.get(topic) ?? {};
      const range = ranges.find((each) => each.partition === partition);
      if (range === undefined || offset < range.low || offset >= range.high) continue;
      const name = `${topic}/${partition}`;
      const known = byPartition.get(name) ?? { topic, partition, all: new Set() };
      known.all.add(offset);
      byPartition.set(name, known);
    }
    return [...byPartition.values()].map(({ topic, partition, all }) => ({
      topic,
      partition,
      offsets: [...all].sort((a, b) => a - b),
    }));
  }
}
