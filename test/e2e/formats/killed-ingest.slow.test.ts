import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Random } from '../../../src/generate/random.ts';
import { useStack } from '../../containers/stack.ts';
import { protoOf } from '../../formats/otlp/oracle.ts';
import { truthOf } from '../kit/truth.ts';
import { llmSpans } from './llm-spans.ts';
import { withSpanTopics } from './with-span-topics.ts';

const stack = useStack();
const KILLS = 3;

describe('spans of LLM servers that are read while their process is killed', () => {
  it(`count once each after ${KILLS} kills`, () =>
    withSpanTopics(stack, async (rig, topics) => {
      const random = new Random('killed-ingest');
      const { requests, events } = llmSpans(Date.now());
      const [vllm = ''] = requests;
      let [copies, isOver] = [0, false];
      const feed = (async () => {
        while (!isOver) {
          const protos = requests.map((text) => ({ value: protoOf(text) }));
          await rig.publish(protos, topics.proto);
          await rig.publish([{ value: vllm }], topics.json);
          copies++;
          await sleep(200);
        }
      })();
      const spawn = () => rig.spawn(['run', '--roles', 'ingest']);
      for (let n = 1; n <= KILLS; n++) {
        const child = spawn();
        // A dead member's partitions are assigned once its session is over.
        await child.logged('partition assigned', 1 + Math.floor(random.uniform() * 3));
        await sleep(random.uniform() * 4_000);
        child.signal('SIGKILL');
        await child.exited;
        process.stderr.write(`killed ${n} of ${KILLS}\n`);
      }
      const last = spawn();
      await last.logged('partition assigned', 3);
      isOver = true;
      await feed;
      await rig.untilConsumed(copies * (50 + 20), 120_000);
      last.signal('SIGTERM');
      expect(await last.exited).toBe(0);
      const all = [...events, ...events.slice(0, 20)];
      await rig.expectStages(truthOf(Array.from({ length: copies }, () => all).flat()));
      const { totals } = await rig.expectVerified();
      expect(totals).toMatchObject({ consumed: copies * 70, aggregated: copies * 70 });
    }));
});
