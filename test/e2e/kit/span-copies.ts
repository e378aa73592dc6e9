import { createHash } from 'node:crypto';
import type { EventDraft } from '../../../src/formats/format-reader.ts';
import type { OutgoingMessage } from '../../../src/kafka/client/publisher.ts';
import { recordedMessages } from '../../assemble/assemble-messages.ts';
import { fixtureText } from '../../convert/conversion.ts';

/** Traces of the sample pipeline, as they were recorded in a topic. */
export interface SpanTopic {
  readonly file: string;
  readonly format: 'otlp_proto' | 'jaeger_proto' | 'jaeger_json' | 'zipkin_json';
  /** Records of more are not keyed by trace id. */
  readonly partitions: number;
}

interface Truth {
  readonly trace_id: string;
}

/** Trace ids of the recorded topics. */
const traceIds: readonly string[] = (
  JSON.parse(fixtureText('kafka/pipeline-truth.json')) as readonly Truth[]
).map(({ trace_id }) => trace_id);

/** Events that one copy of the traces gives, by the recorded trace ids. */
export const expectedEvents: readonly EventDraft[] = fixtureText('expected/pipeline-traces.ndjson')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

/** The trace id of a copy. */
export function copyOf(traceId: string, copy: string): string {
  return createHash('sha256').update(`${copy} ${traceId}`).digest('hex').slice(0, 32);
}

/** Makes copies of the records of a topic, each with trace ids of its own. */
export class SpanCopies {
  readonly #topic: SpanTopic;
  readonly #records: ReturnType<typeof recordedMessages>;

  constructor(topic: SpanTopic) {
    this.#topic = topic;
    this.#records = recordedMessages(`kafka/${topic.file}`);
  }

  /** Records of one copy, a second long, that end at a time. */
  records(copy: string, endMs: number): OutgoingMessage[] {
    const { partitions } = this.#topic;
    const ids = traceIds.map((id) => [id, copyOf(id, copy)] as const);
    return this.#records.map(({ value, key }, i): OutgoingMessage => {
      const id = key === null ? undefined : ids.find(([old]) => old === key)?.[1];
      const partition = id === undefined ? 0 : Number.parseInt(id.slice(0, 6), 16) % partitions;
      return {
        ...(id === undefined ? {} : { key: id }),
        value: withIds(value, ids),
        partition,
        timestampMs: Math.round(endMs - 1_000 + (1_000 * i) / this.#records.length),
      };
    });
  }
}

/** Replaces trace ids, whether they are bytes, hex or base64. */
function withIds(value: Buffer, ids: readonly (readonly [string, string])[]): Buffer {
  let text = value.toString('latin1');
  for (const [before, after] of ids) {
    const [from, to] = [Buffer.from(before, 'hex'), Buffer.from(after, 'hex')];
    for (const encoding of ['latin1', 'hex', 'base64'] as const) {
      text = text.replaceAll(from.toString(encoding), () => to.toString(encoding));
    }
  }
  return Buffer.from(text, 'latin1');
}
