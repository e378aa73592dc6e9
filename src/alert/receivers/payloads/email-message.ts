import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isOver, type Message } from '../../message/anomaly-message.ts';
import type { Fact } from '../../message/fact.ts';
import type { Link } from '../../message/links.ts';
import { messageText } from '../../message/message-text.ts';
import type { Notice } from '../receiver.ts';

/** What later mails of an incident need of its first. */
export const emailThread = z.object({ subject: z.string().min(1) });
export type EmailThread = z.output<typeof emailThread>;

/** The mail of a notice: what a mail library needs to compose it. */
export interface EmailMessage {
  readonly subject: string;
  readonly messageId: string;
  /** Stands for the incident: no mail has this id, and all mails of the incident refer to it. */
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
  /** Undefined for the first mail of an incident. */
  readonly thread: EmailThread | undefined;
}

const borders: Readonly<Record<Message['tone'], string>> = {
  critical: '#c0392b',
  warning: '#e69f00',
  info: '#5b7fa6',
  ended: '#2e8b57',
};

/**
 * Makes the mail of a notice. All mails of an incident have the subject of its first, after "Re:", and
 * one common reference: Gmail wants both to thread them. The reference is no mail's id, because some
 * servers replace ids. The text begins with the title of the notice itself, so a preview shows it. Ids
 * depend on the notice alone: a mail that comes twice is the same mail.
 */
export function emailMessage({ notice, message, from, thread }: EmailInput): EmailMessage {
  const { event, change } = notice;
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const id = /^[\w-]{1,64}$/.test(event.id)
    ? event.id
    : createHash('sha256').update(event.id).digest('hex');
  return {
    subject: thread === undefined ? message.title : `Re: ${thread.subject}`,
    messageId: `<${id}.${event.revision}.${change}@${domain}>`,
    references: `<${id}@${domain}>`,
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
