import type { TopicMessage } from '../../../src/kafka/follow-topic.ts';

/** What identifies a dead letter, and why it is one: "topic/partition/offset/index reason". */
export function deadLetterKey({ headers }: TopicMessage): string {
  const part = (name: string) => headers[`tailmark-${name}`] ?? `no ${name}`;
  const place = ['topic', 'partition', 'offset', 'index'].map(part).join('/');
  return `${place} ${part('reason')}`;
}
