import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load/load-config.ts';
import { ensureTopics } from '../../src/kafka/client/kafka-topics.ts';
import { useStack } from '../containers/stack.ts';
import { uniqueName } from '../containers/unique-name.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const spans = uniqueName('spans');
const settings = { ASSEMBLE_TOPICS: JSON.stringify([{ topic: spans, format: 'otlp_proto' }]) };

it('check and run name the topics of both blocks each once, those that are missing with their setting', () =>
  withRig({ stack, name: 'assemble_topics', settings }, async (rig) => {
    const { topic } = rig;
    const check = async (roles: string, more: Record<string, string> = {}) => {
      const env = { ...rig.env, TAILMARK_ASSEMBLE_GROUP_ID: topic, ...more };
      const { out } = await rig.cli(['check', '--connect', '--roles', roles], { env });
      return out.split('\n').filter((line) => /Kafka (topics|writes)|Create it/.test(line));
    };
    expect(await check('assemble')).toEqual([
      `fail  Kafka topics: Cannot read from Kafka: every topic of assemble.topics must exist; missing: ${spans}`,
      `      Create it (kafka-topics.sh --create --topic ${spans}), or correct assemble.topics or TAILMARK_ASSEMBLE_TOPICS.`,
      `ok    Kafka writes: ${spans}.dlq, ${topic}`,
    ]);

    await ensureTopics(rig.config.kafka, [{ topic: spans }]);
    expect(await check('assemble', { TAILMARK_ASSEMBLE_OUTPUT: `${topic}.x` })).toEqual([
      `fail  Kafka topics: Cannot read from Kafka: every topic of assemble.output must exist; missing: ${topic}.x`,
      `      Create it (kafka-topics.sh --create --topic ${topic}.x), or correct assemble.output or TAILMARK_ASSEMBLE_OUTPUT.`,
      `ok    Kafka writes: ${spans}.dlq, ${topic}.x`,
    ]);

    const both = { TAILMARK_KAFKA_TOPICS: `${topic},${spans}` };
    expect(await check('assemble,ingest', both)).toEqual([
      `ok    Kafka topics: ${topic}, ${spans}`,
      `ok    Kafka writes: ${topic}.dlq, ${spans}.dlq, ${topic}.anomalies, ${topic}`,
    ]);
    const { config } = loadConfig({ env: { ...rig.env, ...both }, readFile: () => '' });
    const own = { ...config, assemble: { ...config.assemble, group_id: topic } };
    const pipeline = await rig.start(['assemble', 'ingest', 'detect'], own);
    await pipeline.stop();
  }));
