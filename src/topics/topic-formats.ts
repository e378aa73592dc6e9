import type { Config } from '../config/schema.ts';
import type { DecoderOptions, EventDecoder } from '../decode/event-decoder.ts';
import { MessageDecoder } from '../decode/message/message-decoder.ts';
import type { FoundFields } from '../formats/mapping/found-fields.ts';
import type { SchemaSource } from '../formats/records/schema-source.ts';
import { type FormatPlan, planOf } from './format-plan.ts';
import { openDecoder } from './open-decoder.ts';

/** Formats of the messages of each topic, by `kafka.topics` or by `source`. */
export class TopicFormats {
  readonly #plans: ReadonlyMap<string, FormatPlan>;
  /** Of a source that has one format for all it reads. */
  readonly #all: FormatPlan | undefined;
  readonly #schemas: SchemaSource | undefined;

  private constructor(
    plans: ReadonlyMap<string, FormatPlan>,
    all: FormatPlan | undefined,
    schemas: SchemaSource | undefined,
  ) {
    this.#plans = plans;
    this.#all = all;
    this.#schemas = schemas;
  }

  /**
   * Reads the files that the formats name.
   *
   * @param schemas of `schema_registry`; needed by decoders of formats with one.
   * @throws OperatorError TAILMARK_CONFIG_INVALID where one is missing or wrong.
   */
  static open(
    { kafka, source }: Pick<Config, 'kafka' | 'source'>,
    schemas?: SchemaSource,
  ): TopicFormats {
    if (source.type !== 'kafka') return new TopicFormats(new Map(), planOf(source), schemas);
    const plans = Object.entries(kafka.formats).map(
      ([topic, given]) => [topic, planOf(given)] as const,
    );
    return new TopicFormats(new Map(plans), undefined, schemas);
  }

  /**
   * Returns a decoder for one partition of a topic.
   *
   * @param found watches which fields of the topic's own mapping its records have.
   */
  decoderOf(topic: string, options: DecoderOptions, found?: FoundFields): EventDecoder {
    const plan = this.#planOf(topic);
    return plan === undefined
      ? new MessageDecoder(options)
      : openDecoder(plan, options, this.#schemas, found);
  }

  /** Returns true if every message of a topic is one record, whose letter is the message. */
  holdsSingleRecords(topic: string): boolean {
    const format = this.#planOf(topic)?.given.format;
    return format === 'avro' || format === 'protobuf';
  }

  /**
   * Identifies a topic's format with its rules: processes that read a topic alike have the same. undefined for
   * timing events.
   */
  identityOf(topic: string): string | undefined {
    return this.#planOf(topic)?.identity;
  }

  #planOf(topic: string): FormatPlan | undefined {
    return this.#all ?? this.#plans.get(topic);
  }
}
