import { OperatorError } from '../../base/operator-error.ts';
import type { AssembleConfig } from '../../config/assemble.ts';
import type { Config } from '../../config/schema.ts';
import { timingTopic } from '../../config/topic-format.ts';
import { writtenTopics } from '../../ingest/letters/dead-letter.ts';
import { requireTopics, type TopicSpec } from '../../kafka/client/kafka-topics.ts';

/** @throws OperatorError where the configuration names no topics of spans. */
export function assembleConfigOf({ assemble }: Config): AssembleConfig {
  if (assemble.topics.length > 0) return assemble;
  throw new OperatorError(
    'TAILMARK_CONFIG_INVALID',
    'Cannot assemble traces: assemble.topics must name topics of spans; it is empty',
    { hint: 'assemble: {topics: [{topic: otlp_spans, format: otlp_proto}]}' },
  );
}

/**
 * Topics that are read, and the one that is written to.
 *
 * @throws OperatorError where ingest could not read what is written there.
 */
export function assembleTopics(config: Config): { input: string[]; output: string } {
  const { topics, output } = assembleConfigOf(config);
  const { kafka } = config;
  const input = topics.map(({ topic }) => topic);
  const chosen = output ?? timingTopic(kafka);
  const invalid = (rule: string) =>
    new OperatorError(
      'TAILMARK_CONFIG_INVALID',
      `Cannot assemble traces: assemble.output must ${rule}`,
      { hint: 'Name the topic of timing events that ingest reads.' },
    );
  if (chosen === undefined) {
    throw invalid('be set, as no topic of kafka.topics holds timing events');
  }
  if (input.includes(chosen)) throw invalid(`be none of assemble.topics; it is ${chosen}`);
  if (input.some((topic) => `${topic}${kafka.dead_letter_suffix}` === chosen)) {
    throw invalid(`be no dead-letter topic of assemble.topics; it is ${chosen}`);
  }
  const { format = 'timing' } = kafka.formats[chosen] ?? {};
  if (format !== 'timing') {
    throw invalid(`hold timing events; ${chosen} has format ${format} in kafka.topics`);
  }
  return { input, output: chosen };
}

/** @throws OperatorError that names topics which are missing. */
export async function requireAssembleTopics(config: Config): Promise<void> {
  const { input, output } = assembleTopics(config);
  await requireTopics(config.kafka, [...input, output]);
}

/** Dead-letter topics of the topics of spans, as they are created. */
export function assembleLetterTopics(config: Config): TopicSpec[] {
  const { kafka, alert } = config;
  const { input } = assembleTopics(config);
  const written = writtenTopics({ kafka: { ...kafka, topics: input }, alert }, ['ingest']);
  return written.filter(({ topic }) => topic !== alert.topic);
}
