import type { SimFleet } from './sim-fleet.ts';
import type { SimKafka } from './sim-kafka.ts';
import type { SimWorld } from './sim-world.ts';
import type { Truth } from './truth.ts';
import type { Workload } from './workload.ts';

interface Setting {
  readonly fleet: SimFleet;
  readonly truth: Truth;
  readonly workload: Workload;
}

/** Shortest time between deletion and recreation of a topic (docs/explained/exactly-once.md). */
const RECREATED_MS = 10_000;
/** How long a chunk is waited for, and how often it is looked for. */
const LONGEST_WAIT_MS = 5_000;
const LOOK_EVERY_MS = 20;

/** Deletes a topic and creates it again: at the worst moment, while a chunk of it is being stored. */
export function recreateWhilePending(
  world: SimWorld,
  setting: Setting,
  kafka: SimKafka,
  topic: string,
): void {
  const { scheduler } = world;
  const untilMs = scheduler.nowMs + LONGEST_WAIT_MS;
  world.pending++;
  const look = () => {
    if (isPending(setting, kafka, topic) || scheduler.nowMs >= untilMs) {
      world.pending--;
      recreate(world, setting, kafka, topic);
    } else scheduler.at(LOOK_EVERY_MS, undefined, look);
  };
  look();
}

/** Whether a group has committed an intent for one of the topic's partitions. */
function isPending({ fleet }: Setting, kafka: SimKafka, topic: string): boolean {
  return fleet.groups
    .filter((each) => each.kafka === kafka)
    .some(({ group }) =>
      [...group.commits].some(
        ([key, { metadata }]) => key.startsWith(`${topic}/`) && metadata.includes('"endOffset"'),
      ),
    );
}

function recreate(
  world: SimWorld,
  { truth, workload }: Setting,
  kafka: SimKafka,
  topic: string,
): void {
  const { scheduler, random, trace } = world;
  const old = kafka.logsOf(topic);
  // Another one was faster.
  if (old.length === 0) return;
  for (const log of old) truth.remove(log, () => true, 'topic_recreated');
  kafka.deleteTopic(topic);
  trace?.('kafka', `${topic} is deleted`);
  world.pending += old.length;
  scheduler.at(RECREATED_MS + random.unit() * 3_000, undefined, () => {
    trace?.('kafka', `${topic} is recreated`);
    for (const log of kafka.createTopic(topic, old.length)) {
      scheduler.at(random.unit() * 10_000, undefined, () => {
        world.pending--;
        // It may have been truncated since.
        const now = kafka.logOf(log.topic, log.partition);
        if (now !== undefined) workload.write(now, random.between(1, 40), scheduler.nowMs);
        kafka.wake();
      });
    }
  });
}
