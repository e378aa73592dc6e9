import { ensureTopics } from '../../../src/kafka/client/kafka-topics.ts';
import type { useStack } from '../../containers/stack.ts';
import { uniqueName } from '../../containers/unique-name.ts';
import type { Rig } from '../kit/rig.ts';
import { withRig } from '../kit/with-rig.ts';

/** Uses a topic of timing events, one of spans in protobuf, and one of spans in JSON. */
export async function withSpanTopics(
  stack: ReturnType<typeof useStack>,
  use: (rig: Rig, topics: { plain: string; proto: string; json: string }) => Promise<void>,
): Promise<void> {
  const name = uniqueName('otlp_topics');
  const topics = { plain: name, proto: `${name}.proto`, json: `${name}.json` };
  const entries = [
    topics.plain,
    { topic: topics.proto, format: 'otlp_proto' },
    { topic: topics.json, format: 'otlp_json', preset: 'vllm' },
  ];
  const settings = { KAFKA_TOPICS: JSON.stringify(entries) };
  await withRig({ stack, name: 'otlp_topics', settings }, async (rig) => {
    const more = [topics.proto, topics.json].map((topic) => ({ topic, partitions: 1 }));
    await ensureTopics(rig.config.kafka, more);
    await use(rig, topics);
  });
}
