import { decodeCommitted } from '../../assemble/restart-point.ts';
import { messageOf } from '../../base/failure.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { failedProbe, type ProbeFinding } from '../../base/probe-finding.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Config } from '../../config/schema.ts';
import { type CommitOfGroup, commitsOfOtherGroups } from '../../kafka/group/find-group.ts';
import { assembleConfigOf, assembleTopics } from './assemble-topics.ts';

/** Finds commits of other groups that assemble a topic of this one into the same output. */
async function otherAssemblers(config: Config): Promise<CommitOfGroup[]> {
  const { group_id: groupId } = assembleConfigOf(config);
  const { input, output } = assembleTopics(config);
  const commits = await commitsOfOtherGroups(config.kafka, groupId, input);
  return commits.filter(
    ({ offset, metadata }) => decodeCommitted(offset, metadata)?.output === output,
  );
}

/**
 * Refuses to assemble what another group assembles: each would write an event of each trace.
 *
 * @throws OperatorError TAILMARK_GROUP_CONFLICT.
 */
export async function requireSoleAssembler(config: Config): Promise<void> {
  const { group_id: groupId, allow_other_groups: isAllowed } = assembleConfigOf(config);
  if (isAllowed) return;
  const [other] = await otherAssemblers(config);
  if (other === undefined) return;
  const { topic, partition, offset } = other;
  throw new OperatorError(
    'TAILMARK_GROUP_CONFLICT',
    `Cannot assemble traces as one consumer group must assemble topic ${topic} into ${assembleTopics(config).output}: ` +
      `group ${other.groupId} has done so up to offset ${offset} of partition ${partition}, and assemble.group_id is ${groupId}`,
    {
      hint:
        'While two groups do, every trace counts twice: stop the other one, or use its group_id. Where it has ' +
        `stopped for good, delete it (kafka-consumer-groups.sh --delete --group ${other.groupId}), or set ` +
        'assemble.allow_other_groups; with kafka.start_from: latest this group assembles no trace of before.',
    },
  );
}

/** Finds out whether a process that assembles would be refused. */
export async function probeAssemblers(config: Config): Promise<ProbeFinding[]> {
  const { group_id: groupId } = assembleConfigOf(config);
  const what = `consumer group ${groupId}`;
  try {
    await requireSoleAssembler(config);
    return [{ ok: true, what, detail: `assembles into ${assembleTopics(config).output}` }];
  } catch (error) {
    if (error instanceof OperatorError) return [failedProbe(what, error)];
    throw error;
  }
}

/** Looks again and again for groups that assemble the same, as two may have started together. */
export class OtherAssemblers {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #logged = new Set<string>();
  #texts: readonly string[] = [];
  #isLooking = false;

  constructor(config: Config, log: Logger) {
    this.#config = config;
    this.#log = log;
  }

  async observe(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    await this.#look();
    this.#isLooking = false;
  }

  async #look(): Promise<void> {
    let found: readonly CommitOfGroup[];
    try {
      found = await otherAssemblers(this.#config);
    } catch (error) {
      this.#log.debug({ err: messageOf(error) }, 'other groups could not be looked up');
      return;
    }
    const pairs = found.map(({ groupId, topic }) => `group ${groupId} assembles topic ${topic}`);
    this.#texts = [...new Set(pairs)].map(
      (pair) => `assemble: ${pair} into the same output: every trace counts twice`,
    );
    for (const text of this.#texts) {
      if (this.#logged.has(text)) continue;
      this.#logged.add(text);
      this.#log.error({ problem: text }, 'another group assembles the same topic');
    }
  }

  problems(): readonly string[] {
    return this.#isAllowed ? [] : this.#texts;
  }

  notes(): readonly string[] {
    return this.#isAllowed ? this.#texts : [];
  }

  get #isAllowed(): boolean {
    return assembleConfigOf(this.#config).allow_other_groups;
  }
}
