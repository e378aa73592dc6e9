import { escapedBytes } from '../../../contract/sql.ts';
import type { Message } from '../../message/anomaly-message.ts';
import { cutText } from '../../message/clean-text.ts';
import type { Fact } from '../../message/fact.ts';
import type { Link } from '../../message/links.ts';
import type { Form } from '../../receiver.ts';

/** Limits of Slack's messages, in characters after escaping. */
const limits = {
  header: 150,
  section: 3000,
  text: 4000,
  /** Of all blocks together, ours: Slack refuses more than some 13,000. */
  blocks: 8000,
  factChars: 1500,
} as const;

const colors: Readonly<Record<Message['tone'], string>> = {
  critical: '#c0392b',
  warning: '#e69f00',
  info: '#5b7fa6',
  ended: '#2e8b57',
};

/** Nothing in a text becomes a link, a mention or a preview, beyond what we write as one. */
const literal = { parse: 'none', link_names: false, unfurl_links: false, unfurl_media: false };

/**
 * Escapes a text for Slack and cuts it to `maxChars` characters. `<`, `>` and `&` begin links, mentions and
 * entities, and three backticks a block of code that spans lines. Without them a name has at most a bold word.
 */
function slackText(text: string, maxChars: number): string {
  let escaped = '';
  let beforeEllipsis = '';
  for (const character of cutText(text.replaceAll('```', "'''"), maxChars)) {
    escaped += entities.get(character) ?? character;
    if (escaped.length > maxChars) return `${beforeEllipsis}…`;
    if (escaped.length < maxChars) beforeEllipsis = escaped;
  }
  return escaped;
}

const entities: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
]);

/**
 * The message of an incident, for `chat.postMessage`, `chat.update` and incoming webhooks. `text` is what
 * notifications show. The minimal form has no blocks; its empty lists remove those of an earlier state.
 */
export function slackMessage(message: Message, form: Form) {
  if (form === 'minimal') {
    return { text: minimalText(message), blocks: [], attachments: [], ...literal };
  }
  const { title, tone } = message;
  return {
    text: slackText(title, limits.text),
    blocks: [
      {
        type: 'header',
        text: { type: 'plain_text', text: slackText(title, limits.header), emoji: false },
      },
    ],
    attachments: [{ color: colors[tone], blocks: sectionsOf(message) }],
    ...literal,
  };
}

/** News in the thread of an incident: a rise or its end. */
export function slackReply({ title, facts }: Message) {
  const news = facts.find(({ label }) => label === 'Now' || label === 'What');
  const rise = facts.find(({ label, text }) => label === 'Severity' && text.startsWith('rose'));
  const lines = [title, ...[rise, news].flatMap((fact) => fact?.text ?? [])];
  return { text: slackText(lines.join('\n'), limits.text), ...literal };
}

function minimalText({ title, facts, links }: Message): string {
  const lines = facts.map(({ label, text }) => `${label}: ${text}`);
  const text = slackText([title, ...lines].join('\n'), limits.section);
  const shown = links.map(linkText).filter((link) => link.length < limits.text - limits.section);
  return [text, ...shown.slice(0, 1)].join('\n');
}

/** Facts, links and the query, as far as they fit; the last are left out first. */
function sectionsOf({ facts, links, sql }: Message) {
  const sections: string[] = [];
  let room = limits.blocks;
  const add = (text: string, separator: string) => {
    if (text.length > Math.min(room, limits.section)) return;
    room -= text.length + separator.length;
    const joined = `${sections.at(-1) ?? ''}${separator}${text}`;
    if (separator === '' || sections.length === 0 || joined.length > limits.section)
      sections.push(text);
    else sections[sections.length - 1] = joined;
  };
  for (const fact of facts) add(factText(fact), '\n');
  for (const [i, link] of links.entries()) add(linkText(link), i === 0 ? '' : '  ');
  // Three backticks would end the code. They can only stand in a literal, which ClickHouse reads as before.
  const query = slackText(sql.replaceAll('```', escapedBytes), limits.section);
  if (sql !== '') add(`\`\`\`${query}\`\`\``, '');
  return sections.map((text) => ({
    type: 'section',
    text: { type: 'mrkdwn', text, verbatim: true },
  }));
}

function factText({ label, text }: Fact): string {
  return `*${label}* ${slackText(text, limits.factChars)}`;
}

function linkText({ label, url }: Link): string {
  return `<${slackText(url.replaceAll('|', '%7C'), limits.section)}|${label}>`;
}
