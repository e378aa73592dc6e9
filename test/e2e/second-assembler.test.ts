import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load/load-config.ts';
import { ensureTopics } from '../../src/kafka/client/kafka-topics.ts';
import { OtherAssemblers } from '../../src/roles/assemble/other-assemblers.ts';
import { recordedMessages } from '../assemble/assemble-messages.ts';
import { useStack } from '../containers/stack.ts';
import { uniqueName } from '../containers/unique-name.ts';
import { poll } from './kit/poll.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const topic = `${uniqueName('spans')}.zipkin`;
const settings = {
  ASSEMBLE_TOPICS: JSON.stringify([{ topic, format: 'zipkin_json' }]),
  ASSEMBLE_WAIT: '1s',
  ASSEMBLE_LATE_MEMORY: '1s',
  ASSEMBLE_COMMIT_INTERVAL: '100ms',
};

it('A second group that would write the events of a topic once more is refused, and seen where it is allowed', () =>
  withRig({ stack, name: 'second_assembler', settings }, async (rig) => {
    const other = `${rig.topic}.other`;
    await ensureTopics(rig.config.kafka, [{ topic }, { topic: other }]);
    const envOf = (group: string, more: Record<string, string> = {}) => ({
      ...{ ...rig.env, TAILMARK_ASSEMBLE_GROUP_ID: `${rig.topic}-${group}` },
      ...more,
    });
    const configOf = (group: string, more?: Record<string, string>) =>
      loadConfig({ env: envOf(group, more), readFile: () => '' }).config;
    await rig.publish(
      recordedMessages('kafka/zipkin_spans_json.jsonl.gz').map(({ value }) => ({ value })),
      topic,
    );
    let events = 0;
    await rig.follow(rig.topic, ({ value }) => {
      events += String(value).split('\n').length;
    });
    const first = await rig.start(['assemble'], configOf('a'));
    await poll('all is assembled', () => (events === 61 ? true : undefined), {
      seen: () => events,
    });
    const watchOf = (group: string, more?: Record<string, string>) =>
      new OtherAssemblers(configOf(group, more), rig.log);
    const alone = watchOf('a');
    await alone.observe();
    expect([alone.problems(), alone.notes()]).toEqual([[], []]);

    const why =
      `Cannot assemble traces as one consumer group must assemble topic ${topic} into ${rig.topic}: ` +
      `group ${rig.topic}-a has done so up to offset `;
    await expect(rig.start(['assemble'], configOf('b'))).rejects.toMatchObject({
      code: 'TAILMARK_GROUP_CONFLICT',
      exitCode: 78,
      message: expect.stringContaining(why),
    });
    const check = await rig.cli(['check', '--connect', '--roles', 'assemble'], { env: envOf('b') });
    expect([check.exitCode, check.out]).toEqual([78, expect.stringContaining(why)]);
    const fine = await rig.cli(['check', '--connect', '--roles', 'assemble'], { env: envOf('a') });
    expect(fine.out).toContain(`consumer group ${rig.topic}-a: assembles into ${rig.topic}\n`);

    // The same topic, by other rules, into another one.
    const elsewhere = await rig.start(
      ['assemble'],
      configOf('c', { TAILMARK_ASSEMBLE_OUTPUT: other }),
    );
    await elsewhere.stop();

    const allowed = { TAILMARK_ASSEMBLE_ALLOW_OTHER_GROUPS: 'true' };
    const second = await rig.start(['assemble'], configOf('b', allowed));
    await poll('all is assembled twice', () => (events === 122 ? true : undefined), {
      seen: () => events,
    });
    const text = (group: string) =>
      `assemble: group ${rig.topic}-${group} assembles topic ${topic} into the same output: every trace counts twice`;
    await alone.observe();
    expect([alone.problems(), alone.notes()]).toEqual([[text('b')], []]);
    const tolerant = watchOf('b', allowed);
    await tolerant.observe();
    expect([tolerant.problems(), tolerant.notes()]).toEqual([[], [text('a')]]);
    await first.stop();
    await second.stop();
  }));
