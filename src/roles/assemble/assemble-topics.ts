import { OperatorError } from '../../base/operator-error.ts';
import type { AssembleConfig } from '../../config/assemble.ts';
import type { Config } from '../../config/schema.ts';
import { timingTopic } from '../../config/topic-format.ts';
import { writtenTopics } from '../../ingest/letters/dead-letter.ts';
import type { NamedTopics, TopicSpec } from '../../kafka/client/kafka-topics.ts';
import type { Role } from '../role.ts';

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

/** Topics that must exist for some roles, by the setting that names them. */
export function requiredTopics(config: Config, roles: readonly Role[]): NamedTopics[] {
  const { kafka, assemble } = config;
  const required: NamedTopics[] = [];
  if (roles.includes('ingest')) required.push({ setting: 'kafka.topics', topics: kafka.topics });
  if (roles.includes('assemble')) {
    const { input, output } = assembleTopics(config);
    required.push({ setting: 'assemble.topics', topics: input });
    const setting = assemble.output === undefined ? 'kafka.topics' : 'assemble.output';
    required.push({ setting, topics: [output] });
  }
  return required;
}

/** Topics that some roles write to and create, each once: dead letters and anomalies. */
export function createdTopics(config: Config, roles: readonly Role[]): TopicSpec[] {
  const { kafka, alert } = config;
  const letters = roles.includes('assemble')
    ? writtenTopics({ kafka: { ...kafka, topics: assembleTopics(config).input }, alert }, [
        'ingest',
      ])
    : [];
  const own = letters.filter(({ topic }) => topic !== alert.topic);
  const all = [...writtenTopics(config, roles), ...own];
  return [...new Map(all.map((spec) => [spec.topic, spec])).values()];
}
