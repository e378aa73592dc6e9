import { traceReader } from '../../assemble/event/span-formats.ts';
import { systemClock } from '../../base/clock.ts';
import { invariant } from '../../base/invariant.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { AssembleTopic } from '../../config/assemble.ts';
import type { Config } from '../../config/schema.ts';
import { DeadLetterBudget } from '../../ingest/letters/dead-letter-budget.ts';
import { rationedMessages } from '../../ingest/letters/letter-writer.ts';
import { KafkaAdmin } from '../../kafka/client/kafka-admin.ts';
import { createKafkaClient, kafkaError, probing } from '../../kafka/client/kafka-client.ts';
import { requireTopics } from '../../kafka/client/kafka-topics.ts';
import { TransactionalPublisher } from '../../kafka/client/transactional-publisher.ts';
import { KafkaSource } from '../../kafka/kafka-source.ts';
import { WatchedSource } from '../../kafka/liveness/watched-source.ts';
import { RecordBatchReader } from '../../kafka/protocol/record-batch-reader.ts';
import type { RoleContext, RunningRole } from '../role.ts';
import {
  assembleConfigOf,
  assembleTopics,
  createdTopics,
  requiredTopics,
} from './assemble-topics.ts';
import { Assembler, type AssemblyOutput } from './assembler.ts';
import { EventCheck } from './event-check.ts';
import { OtherAssemblers, requireSoleAssembler } from './other-assemblers.ts';
import { PartitionAssembly, type Publication } from './partition-assembly.ts';
import { rulesOf, settingsOf } from './topic-rules.ts';

/** Interval at which other groups are looked for. */
const LOOK_MS = 300_000;

/** Starts the role assemble: spans of Kafka's topics to timing events, each trace once. */
export async function startAssemble(context: RoleContext): Promise<RunningRole> {
  const { config, log, metrics } = context;
  const assemble = assembleConfigOf(config);
  const { input, output } = assembleTopics(config);
  await requireSoleAssembler(config);
  const settings = settingsOf(assemble);
  const topics = new Map(assemble.topics.map((entry) => [entry.topic, partsOf(entry)]));
  const check = new EventCheck(config);
  const letterBudget = new DeadLetterBudget(config.limits.max_dead_letters_per_second);
  const groupId = assemble.group_id;
  const admin = await KafkaAdmin.open(config.kafka, 'read from Kafka');
  const assembler = new Assembler({
    ...{ settings, clock: systemClock, log, metrics },
    startFrom: config.kafka.start_from,
    commitIntervalMs: assemble.commit_interval,
    committed: (topic, partition) => admin.commitOf(groupId, { topic, partition }),
    endOffset: (topic, partition) => admin.endOffset(topic, partition),
    openOutput: (topic, partition) => openOutput(context, topic, partition, letterBudget),
    lastingFailure: (error) => lastingFailure(config, error),
    assembly: ({ topic, partition }, logId, restart) => {
      const parts = topics.get(topic);
      invariant(parts !== undefined, `topic ${topic} must be one of assemble.topics`);
      const maxMessageBytes = config.limits.max_message_bytes;
      return new PartitionAssembly({
        ...{ topic, partition, logId, output, restart, settings, check, maxMessageBytes, ...parts },
      });
    },
  });
  const reader = new RecordBatchReader(config.limits.max_batch_bytes);
  const kafka = createKafkaClient(config.kafka, { log, reader });
  const probeKafka = createKafkaClient(config.kafka, probing);
  const sourceConfig = { ...config.kafka, group_id: groupId, topics: input };
  const watched = { ...config, kafka: sourceConfig };
  const { rebalances, consumerRestarts, partitionsLeaderless } = metrics;
  const { progressAgeSeconds, throttledSeconds } = metrics;
  const source = new WatchedSource(
    {
      ...{ config: watched, kafka, probeKafka, clock: systemClock, commitsSoon: false, log },
      ...{ role: 'assemble' },
      metrics: {
        ...{ rebalances, consumerRestarts, partitionsLeaderless },
        ...{ progressAgeSeconds, throttledSeconds },
      },
    },
    (observed) => new KafkaSource(sourceConfig, { log, kafka: observed }),
  );
  try {
    await source.start(assembler);
  } catch (error) {
    await admin.close();
    throw error;
  }
  assembler.start();
  const others = new OtherAssemblers(config, log);
  const stopLooking = systemClock.every(LOOK_MS, () => void others.observe());
  return {
    done: Promise.race([source.done, assembler.failed]),
    problems: () => [...source.problems(), ...assembler.problems(), ...others.problems()],
    notes: () => [...source.notes(), ...others.notes()],
    stop: async () => {
      stopLooking();
      source.quiesce();
      await assembler.drain();
      await source.stop();
      await admin.close();
    },
  };
}

/** The reason why no transaction can succeed: no topic, or no right. undefined where another attempt may. */
async function lastingFailure(config: Config, error: unknown): Promise<OperatorError | undefined> {
  const explained = kafkaError(error, 'write the events of traces', config.kafka);
  if (explained.code === 'TAILMARK_KAFKA_DENIED') return explained;
  if (explained.code !== 'TAILMARK_KAFKA_TOPIC_MISSING') return undefined;
  try {
    // Brokers say the same for a moment while a topic has no leader.
    const roles = ['assemble'] as const;
    const letters = createdTopics(config, roles).map(({ topic }) => topic);
    const dead = { setting: 'kafka.dead_letter_suffix', topics: letters };
    await requireTopics(config.kafka, [...requiredTopics(config, roles), dead]);
    return undefined;
  } catch (missing) {
    return missing instanceof OperatorError && missing.code === explained.code
      ? missing
      : undefined;
  }
}

function partsOf(entry: AssembleTopic) {
  const { format } = entry;
  const rules = rulesOf(entry);
  return { rules, read: traceReader(format, rules), format };
}

/**
 * Opens the output of a partition: its own transactional id, so that its next owner ends it (fencing).
 * kafkajs commits offsets in a transaction without the group's generation, which would.
 */
async function openOutput(
  { config, publisher, log, metrics }: RoleContext,
  topic: string,
  partition: number,
  letterBudget: DeadLetterBudget,
): Promise<AssemblyOutput> {
  const { group_id: group } = assembleConfigOf(config);
  const { output } = assembleTopics(config);
  const name = `${group}-${topic}-${partition}`;
  const opened = await TransactionalPublisher.open(config.kafka, name);
  const suffix = config.kafka.dead_letter_suffix;
  const letters = {
    ...{ config, publisher, letterBudget, log, metrics },
    deadLetterSuffix: suffix,
    clock: systemClock,
  };
  return {
    publish: async ({ events, letters: rejected, offset, metadata }: Publication) => {
      const deadLetters = rationedMessages(rejected, letters);
      const messages = new Map([
        [output, events.map((value) => ({ value }))],
        [`${topic}${suffix}`, deadLetters],
      ]);
      const reached = new Map([[group, [{ topic, partition, offset, metadata }]]]);
      await opened.publish(messages, reached);
      metrics.deadLetters.inc({ topic }, deadLetters.length);
    },
    close: () => opened.close(),
  };
}
