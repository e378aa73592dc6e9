import type { Config } from '../../../src/config/schema.ts';
import type { EventDraft } from '../../../src/formats/format-reader.ts';
import { createKafkaClient } from '../../../src/kafka/client/kafka-client.ts';
import { fetchedRecordsOf } from '../../../src/kafka/protocol/fetch-response.ts';
import { RecordBatchReader } from '../../../src/kafka/protocol/record-batch-reader.ts';
import { copyOf, expectedEvents } from './span-copies.ts';

const DURATION_TOLERANCE_MS = 0.0021;

/** Events of the timing topic, by trace, as those see them who read committed records only. */
export class AssembledTopic {
  readonly events: EventDraft[] = [];
  /** Trace ids of dead letters. */
  readonly letters: string[] = [];
  #stop: () => Promise<void> = async () => undefined;

  static async follow(
    config: Config['kafka'],
    output: string,
    inputs: readonly string[],
  ): Promise<AssembledTopic> {
    const topic = new AssembledTopic();
    const suffix = config.dead_letter_suffix;
    // kafkajs' own reader delivers records of transactions that were aborted.
    const reader = new RecordBatchReader(64 * 1024 * 1024);
    const consumer = createKafkaClient(config, { reader }).consumer({ groupId: `${output}-seen` });
    await consumer.connect();
    const topics = [output, ...inputs.map((input) => `${input}${suffix}`)];
    await consumer.subscribe({ topics, fromBeginning: true });
    await consumer.run({
      eachBatch: async ({ batch, resolveOffset }) => {
        const records = fetchedRecordsOf(batch);
        for (; records.current !== undefined; records.advance()) {
          topic.#read(batch.topic === output, String(records.current.value));
        }
        resolveOffset(batch.lastOffset());
      },
    });
    topic.#stop = () => consumer.disconnect();
    return topic;
  }

  async stop(): Promise<void> {
    await this.#stop();
  }

  #read(isOutput: boolean, text: string): void {
    if (!isOutput) this.letters.push(String(JSON.parse(text).trace_id));
    else for (const line of text.split('\n')) this.events.push(JSON.parse(line));
  }

  /** Compares with what copies must give: each trace once. Returns what differs, a few lines. */
  problems(copies: readonly string[]): string[] {
    const found = new Map<string, EventDraft[]>();
    for (const event of this.events) {
      const id = String(event.trace_id);
      found.set(id, [...(found.get(id) ?? []), event]);
    }
    const problems: string[] = [];
    for (const copy of copies) {
      for (const expected of expectedEvents) {
        const id = copyOf(String(expected.trace_id), copy);
        const [event, ...more] = found.get(id) ?? [];
        found.delete(id);
        if (event === undefined) problems.push(`${copy}: no event of ${expected.trace_id}`);
        else if (more.length > 0)
          problems.push(`${copy}: ${1 + more.length} of ${expected.trace_id}`);
        else if (!isClose(event, expected)) problems.push(`${copy}: ${JSON.stringify(event)}`);
      }
    }
    // Zipkin cannot say that an end is 0.
    const others = [...found.values()].flat().filter(({ total_ms: totalMs }) => totalMs !== 0);
    problems.push(...others.map((event) => `unexpected: ${JSON.stringify(event)}`));
    const perTrace = new Map<string, number>();
    for (const id of this.letters) perTrace.set(id, (perTrace.get(id) ?? 0) + 1);
    for (const [letter, n] of perTrace) if (n > 1) problems.push(`${n} letters: ${letter}`);
    return problems;
  }
}

function isClose(event: EventDraft, expected: EventDraft): boolean {
  const near = (a = Number.NaN, b = Number.NaN) => Math.abs(a - b) <= DURATION_TOLERANCE_MS;
  const stages = Object.entries(expected.stages_ms ?? {});
  return (
    near(event.total_ms, expected.total_ms) &&
    Object.keys(event.stages_ms ?? {}).length === stages.length &&
    stages.every(([stage, ms]) => near(event.stages_ms?.[stage], ms))
  );
}
