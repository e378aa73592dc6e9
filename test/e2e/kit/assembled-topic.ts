import type { Config } from '../../../src/config/schema.ts';
import type { EventDraft } from '../../../src/formats/format-reader.ts';
import { type FollowedTopic, followTopic } from '../../../src/kafka/follow-topic.ts';
import { copyOf, expectedEvents } from './span-copies.ts';

const DURATION_TOLERANCE_MS = 0.0021;

/** Events of the timing topic, by trace, as those see them who read committed records only. */
export class AssembledTopic {
  readonly events: EventDraft[] = [];
  readonly letters: { readonly reason: string; readonly traceId: string }[] = [];
  #followed: FollowedTopic[] = [];

  static async follow(
    config: Config['kafka'],
    output: string,
    inputs: readonly string[],
  ): Promise<AssembledTopic> {
    const topic = new AssembledTopic();
    topic.#followed = [
      await followTopic(config, output, ({ value }) => {
        const lines = String(value).split('\n');
        topic.events.push(...lines.map((line): EventDraft => JSON.parse(line)));
      }),
    ];
    for (const input of inputs) {
      topic.#followed.push(
        await followTopic(config, `${input}${config.dead_letter_suffix}`, (letter) => {
          const reason = letter.headers['tailmark-reason'] ?? '';
          const { trace_id: traceId = '' } = JSON.parse(String(letter.value ?? '{}'));
          topic.letters.push({ reason, traceId });
        }),
      );
    }
    return topic;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#followed.map((followed) => followed.stop()));
  }

  /** Compares with what copies must give: each trace once. Returns what differs, a few lines. */
  problems(copies: readonly string[]): string[] {
    const found = new Map<string, EventDraft[]>();
    for (const event of this.events) {
      const id = String(event.trace_id);
      found.set(id, [...(found.get(id) ?? []), event]);
    }
    const problems: string[] = [];
    for (const copy of copies) {
      for (const expected of expectedEvents) {
        const id = copyOf(String(expected.trace_id), copy);
        const [event, ...more] = found.get(id) ?? [];
        found.delete(id);
        if (event === undefined) problems.push(`${copy}: no event of ${expected.trace_id}`);
        else if (more.length > 0)
          problems.push(`${copy}: ${1 + more.length} of ${expected.trace_id}`);
        else if (!isClose(event, expected)) problems.push(`${copy}: ${JSON.stringify(event)}`);
      }
    }
    // Zipkin cannot say that an end is 0.
    const others = [...found.values()].flat().filter(({ total_ms: totalMs }) => totalMs !== 0);
    problems.push(...others.map((event) => `unexpected: ${JSON.stringify(event)}`));
    const perTrace = new Map<string, number>();
    for (const { reason, traceId } of this.letters) {
      const key = `${traceId} ${reason}`;
      perTrace.set(key, (perTrace.get(key) ?? 0) + 1);
    }
    for (const [letter, n] of perTrace) if (n > 1) problems.push(`${n} letters: ${letter}`);
    return problems;
  }
}

function isClose(event: EventDraft, expected: EventDraft): boolean {
  const near = (a = Number.NaN, b = Number.NaN) => Math.abs(a - b) <= DURATION_TOLERANCE_MS;
  const stages = Object.entries(expected.stages_ms ?? {});
  return (
    near(event.total_ms, expected.total_ms) &&
    Object.keys(event.stages_ms ?? {}).length === stages.length &&
    stages.every(([stage, ms]) => near(event.stages_ms?.[stage], ms))
  );
}
