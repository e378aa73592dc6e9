import type { TopicMessage } from '../../../src/kafka/follow-topic.ts';

/** Identity and reason of a dead letter: "topic/partition/offset/index reason". */
export function deadLetterKey({ headers }: TopicMessage): string {
  const part = (name: string) => headers[`tailmark-${name}`] ?? `no ${name}`;
  const place = ['topic', 'partition', 'offset', 'index'].map(part).join('/');
  return `${place} ${part('reason')}`;
}
