import type { SMTPServerOptions } from 'smtp-server';
import { afterEach } from 'vitest';
import {
  type EmailOptions,
  EmailReceiver,
} from '../../../../src/alert/receivers/email-receiver.ts';
import { alert as alertSettings } from '../../../../src/config/alert.ts';
import { ca, localSmtp } from './local-smtp.ts';
import { clockAt, links } from './notices.ts';

/** Ends of servers, which run after the test. */
export const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

type Changed = Partial<Omit<EmailOptions, 'config' | 'links'>>;

export function configOf(port: number, settings: object = {}) {
  const { receivers } = alertSettings.parse({
    receivers: [
      {
        type: 'email',
        name: 'mail',
        server: `mail.example:${port}`,
        from: 'tailmark@example.com',
        to: ['oncall@example.com'],
        ...settings,
      },
    ],
  });
  const [config] = receivers;
  if (config?.type !== 'email') throw new Error('no email');
  return config;
}

export function receiverOf(port: number, settings: object = {}, changed: Changed = {}) {
  return new EmailReceiver({
    config: configOf(port, settings),
    links,
    ca,
    clock: clockAt('2026-11-21T10:31:00Z'),
    resolve: async () => '127.0.0.1',
    ...changed,
  });
}

export async function serve(options: SMTPServerOptions = {}) {
  const server = await localSmtp(options);
  closing.push(server.close);
  return server;
}
