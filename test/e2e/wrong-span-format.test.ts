import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load/load-config.ts';
import { ensureTopics } from '../../src/kafka/client/kafka-topics.ts';
import { recordedMessages } from '../assemble/assemble-messages.ts';
import { useStack } from '../containers/stack.ts';
import { uniqueName } from '../containers/unique-name.ts';
import { poll } from './kit/poll.ts';
import type { Rig } from './kit/rig.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const topic = `${uniqueName('spans')}.zipkin`;
const settings = {
  ...{ ASSEMBLE_GROUP_ID: topic, ASSEMBLE_WAIT: '1s', ASSEMBLE_LATE_MEMORY: '1s' },
  ASSEMBLE_COMMIT_INTERVAL: '100ms',
};
const envOf = (rig: Rig, format: string) => ({
  ...rig.env,
  TAILMARK_ASSEMBLE_TOPICS: JSON.stringify([{ topic, format }]),
});

/** Assembles with a format, until so many messages are in a topic. */
async function assemble(rig: Rig, format: string, written: string, lines: number) {
  const env = envOf(rig, format);
  const { config } = loadConfig({ env, readFile: () => '' });
  const found: string[] = [];
  await rig.follow(written, ({ value }) => found.push(...String(value).split('\n')));
  const pipeline = await rig.start(['assemble'], config);
  await poll(`${lines} in ${written}`, () => (found.length >= lines ? true : undefined), {
    seen: () => found.length,
  });
  await pipeline.stop();
  return found;
}

it('a topic that was rejected for its format is assembled once that is right and its letters are replayed', () =>
  withRig({ stack, name: 'span_format', settings }, async (rig) => {
    await ensureTopics(rig.config.kafka, [{ topic }, { topic: `${topic}.dlq` }]);
    const messages = recordedMessages('kafka/zipkin_spans_json.jsonl.gz');
    const keyed = messages.map(({ value }, n) => ({ key: `key ${n}`, value }));
    await rig.publish(keyed, topic);

    const [wrong, right] = [envOf(rig, 'otlp_proto'), envOf(rig, 'zipkin_json')];
    const check = ['check', '--connect', '--roles', 'assemble'];
    const refused = await rig.cli(check, { env: wrong });
    expect([refused.exitCode, refused.out]).toEqual([
      78,
      expect.stringContaining(
        `fail  topic ${topic} (otlp_proto): the newest 59 records hold 0 spans of 0 traces`,
      ),
    ]);
    expect((await rig.cli(check, { env: right })).out).toContain(
      `topic ${topic} (zipkin_json): the newest 59 records hold 496 spans of 63 traces`,
    );

    await assemble(rig, 'otlp_proto', `${topic}.dlq`, 59);
    const argv = ['replay', '--dead-letters', '--topic', topic, '--json'];
    const replay = async () => {
      const reasons = ['--reason', 'invalid_protobuf'];
      const { out, err, exitCode } = await rig.cli([...argv, ...reasons], { env: right });
      expect({ err, exitCode }).toEqual({ err: '', exitCode: 0 });
      return JSON.parse(out);
    };
    expect(await replay()).toMatchObject({ replayed: 59, gone: 0, other_reason: 0, left: 0 });
    expect(await replay()).toMatchObject({ replayed: 0, left: 0 });
    const again = await rig.read(topic, 118);
    expect(again.slice(59).map(({ key, value }) => [key, value])).toEqual(
      keyed.map(({ key, value }) => [key, value]),
    );

    const events = await assemble(rig, 'zipkin_json', rig.topic, 61);
    const traceIds = events.map((line) => JSON.parse(line).trace_id);
    expect(new Set(traceIds).size).toBe(61);
    expect(events).toHaveLength(61);
  }));
