import { createHash } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { isOver, type Message } from '../../message/anomaly-message.ts';
import type { Fact } from '../../message/fact.ts';
import type { Link } from '../../message/links.ts';
import { messageText } from '../../message/message-text.ts';
import type { Notice } from '../../receiver.ts';

/** The mail of a notice: what a mail library needs to compose it. */
export interface EmailMessage {
  readonly subject: string;
  readonly messageId: string;
  /** Stands for the incident: no mail has this id, and all mails of the incident refer to it. */
  readonly inReplyTo: string;
  readonly references: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly priority: 'high' | 'normal';
  readonly text: string;
  readonly html: string;
}

export interface EmailInput {
  readonly notice: Notice;
  readonly message: Message;
  /** Sender's address: message ids are of its domain. */
  readonly from: string;
}

const borders: Readonly<Record<Message['tone'], string>> = {
  critical: '#c0392b',
  warning: '#e69f00',
  info: '#5b7fa6',
  ended: '#2e8b57',
};

/**
 * Makes the mail of a notice. Its subject is the title of the notice itself: a lock screen shows the subject
 * first, and an end must not begin with CRITICAL there. The mails of an incident are one thread by
 * `In-Reply-To` and `References` (RFC 5322), which suffices for Thunderbird, Apple Mail and mutt. Gmail, Outlook
 * and servers that follow RFC 8621, 3 want an equal subject too: there the end is a separate conversation.
 * That is the price. With the subject of the first mail on each, people get up for what is over.
 *
 * The reference is no mail's id, because some servers replace ids. Ids depend on the notice alone: a mail that
 * comes twice is the same mail.
 */
export function emailMessage({ notice, message, from }: EmailInput): EmailMessage {
  const { event, change } = notice;
  const domain = domainOf(from);
  const id = /^[\w-]{1,64}$/.test(event.id)
    ? event.id
    : createHash('sha256').update(event.id).digest('hex');
  const incident = `<${id}@${domain}>`;
  return {
    subject: message.title,
    messageId: `<${id}.${event.revision}.${change}@${domain}>`,
    inReplyTo: incident,
    references: incident,
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      'X-Tailmark-Severity': isOver(notice) ? 'ended' : event.severity,
    },
    priority: message.tone === 'critical' ? 'high' : 'normal',
    text: `${messageText(message)}\n`,
    html: htmlOf(message),
  };
}

/** Domain of message ids, which are ASCII. */
function domainOf(address: string): string {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  return /^[\x21-\x7e]+$/.test(domain) ? domain : domainToASCII(domain) || 'tailmark';
}

/** A page without colours of its own for text and ground, so that dark modes can choose theirs; no images. */
function htmlOf({ title, facts, links, sql, tone }: Message): string {
  const query =
    sql === '' ? '' : `<pre style="white-space:pre-wrap;font-size:12px">${escapeHtml(sql)}</pre>`;
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${escapeHtml(title)}</title></head>`,
    '<body style="font-family:sans-serif;font-size:14px">',
    `<p style="border-left:4px solid ${borders[tone]};padding-left:8px"><b>${escapeHtml(title)}</b></p>`,
    `<table style="border-collapse:collapse">${facts.map(rowOf).join('\n')}</table>`,
    `<p>${links.map(linkOf).join(' &middot; ')}</p>${query}`,
    '</body></html>',
  ].join('\n');
}

function rowOf({ label, text }: Fact): string {
  const cell = 'vertical-align:top;padding:2px 12px 2px 0';
  return `<tr><th style="${cell};text-align:left">${escapeHtml(label)}</th><td style="${cell}">${escapeHtml(text)}</td></tr>`;
}

function linkOf({ label, url }: Link): string {
  return `<a href="${escapeHtml(url)}">${escapeHtml(label)}</a>`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
