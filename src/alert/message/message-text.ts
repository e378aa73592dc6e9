import type { Message } from './anomaly-message.ts';

/** Renders a message as plain text: the title, a line a fact, the links, the query. */
export function messageText(message: Message): string {
  return `${message.title}\n\n${messageBody(message)}`;
}

/** The same without the title. */
export function messageBody({ facts, links, sql }: Message): string {
  const lines = [
    ...facts.map(({ label, text }) => `${label}: ${text}`),
    ...links.map(({ label, url }) => `${label}: ${url}`),
  ];
  return sql === '' ? lines.join('\n') : `${lines.join('\n')}\n\n${sql}`;
}
