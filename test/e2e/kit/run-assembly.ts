import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { stringify } from 'yaml';
import { loadConfig } from '../../../src/config/load/load-config.ts';
import type { Config } from '../../../src/config/schema.ts';
import { Random } from '../../../src/generate/random.ts';
import { ensureTopics } from '../../../src/kafka/client/kafka-topics.ts';
import { pipelineRules } from '../../assemble/assemble-messages.ts';
import { AssembledTopic } from './assembled-topic.ts';
import { poll } from './poll.ts';
import type { Rig } from './rig.ts';
import { expectedEvents, SpanCopies, type SpanTopic } from './span-copies.ts';

export const spanTopics: readonly SpanTopic[] = [
  { file: 'otlp_spans_keyed.jsonl', format: 'otlp_proto', partitions: 3 },
  { file: 'jaeger_spans.jsonl.gz', format: 'jaeger_proto', partitions: 2 },
  { file: 'jaeger_spans_json.jsonl.gz', format: 'jaeger_json', partitions: 2 },
  { file: 'zipkin_spans_json.jsonl.gz', format: 'zipkin_json', partitions: 1 },
];

/** Creates the topics of spans, and returns the configuration file that assembles them. */
export async function prepareAssembly(rig: Rig, path: string): Promise<Config> {
  const stages = new Map<string, string[]>();
  for (const [name, stage] of pipelineRules.stageOf) {
    stages.set(stage, [...(stages.get(stage) ?? []), name]);
  }
  const rules = { stages: Object.fromEntries(stages), other_children: 'ignore' };
  const topics = spanTopics.map(({ format }) => {
    return { topic: `${rig.topic}.${format}`, format, ...rules };
  });
  const assemble = {
    ...{ topics, group_id: `${rig.topic}-assemble`, wait: '2s', late_memory: '4s' },
    ...{ max_trace: '30s', commit_interval: '100ms' },
  };
  writeFileSync(path, stringify({ assemble }));
  const { config } = loadConfig({
    env: { ...rig.env, TAILMARK_CONFIG: path },
    readFile: () => stringify({ assemble }),
  });
  await ensureTopics(
    config.kafka,
    spanTopics.map(({ format, partitions }) => ({ topic: `${rig.topic}.${format}`, partitions })),
  );
  return config;
}

export interface AssemblyRun {
  readonly kills: number;
  readonly random: Random;
  readonly onKill?: (n: number) => void;
}

/** Feeds copies while processes that assemble them are killed. Returns what differs from once each. */
export async function runKilledAssembly(
  rig: Rig,
  path: string,
  { kills, random, onKill }: AssemblyRun,
): Promise<{ copies: string[]; problems: string[]; events: number }> {
  const config = await prepareAssembly(rig, path);
  const sources = spanTopics.map((topic) => ({ topic, copies: new SpanCopies(topic) }));
  const copies: string[] = [];
  let isOver = false;
  const feed = (async () => {
    for (let n = 0; !isOver; n++) {
      for (const { topic, copies: source } of sources) {
        const copy = `${topic.format}-${n}`;
        await rig.publish(source.records(copy, Date.now()), `${rig.topic}.${topic.format}`);
        copies.push(copy);
      }
      await sleep(700);
    }
  })();
  const spawn = () => rig.spawn(['run', '--roles', 'assemble', '--config', path]);
  for (let n = 1; n <= kills; n++) {
    const child = spawn();
    // A dead member's partitions are assigned once its session is over.
    await child.logged('partition assigned', 1 + Math.floor(random.uniform() * 8));
    await sleep(random.uniform() * 4_000);
    child.signal('SIGKILL');
    await child.exited;
    onKill?.(n);
  }
  const last = spawn();
  await last.logged('partition assigned', 8);
  isOver = true;
  await feed;
  const inputs = spanTopics.map(({ format }) => `${rig.topic}.${format}`);
  const assembled = await AssembledTopic.follow(config.kafka, rig.topic, inputs);
  const wanted = copies.length * expectedEvents.length;
  await poll(
    'all traces are assembled',
    () => (assembled.events.length >= wanted ? true : undefined),
    {
      deadlineMs: 600_000,
      seen: () =>
        `${assembled.events.length} of ${wanted}; ${assembled.problems(copies).slice(0, 5)}`,
    },
  );
  // Whatever came twice would be there soon.
  await sleep(8_000);
  last.signal('SIGTERM');
  await last.exited;
  await assembled.stop();
  return { copies, problems: assembled.problems(copies), events: assembled.events.length };
}

/** Expects one event of each trace, in the topic and the ledger, after so many kills of the assembler. */
export async function expectOnceEach(rig: Rig, kills: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'assemble-'));
  rig.atEnd(async () => rmSync(dir, { recursive: true, force: true }));
  await rig.start(['ingest']);
  const { problems, events } = await runKilledAssembly(rig, join(dir, 'tailmark.yaml'), {
    kills,
    random: new Random('assemble'),
    onKill: (n) => process.stderr.write(`killed ${n} of ${kills}\n`),
  });
  expect(problems.slice(0, 20)).toEqual([]);
  await rig.untilConsumed(events);
  expect(await rig.consumed()).toBe(events);
}
