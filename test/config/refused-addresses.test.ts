import { describe, expect, it } from 'vitest';
import { configSchema } from '../../src/config/schema.ts';
import { literals } from '../alert/http/refused-literals.ts';

/** A receiver of each type at a host, and a webhook; the last is of mail. */
const receiversAt = (host: string) => [
  { type: 'alertmanager', name: 'a', urls: ['http://127.0.0.1', `http://${host}`] },
  { type: 'pagerduty', name: 'a', routing_key: '0'.repeat(32), url: `https://${host}/enqueue` },
  { type: 'slack', name: 'a', url: `http://${host}/services/x` },
  { type: 'slack', name: 'a', token: 'xoxb-0', channel: 'C1', url: `http://${host}/api` },
  { type: 'webhook', name: 'a', url: `https://${host}/in?x=1` },
  { type: 'webhook', name: 'a', format: 'alertmanager', url: `http://${host}` },
];
const mailAt = (host: string) => {
  return { type: 'email', name: 'a', server: `${host}:25`, from: 'a@b', to: ['c@d'] };
};
/** A port or a login is no part of a host and port. */
const isHost = (literal: string) => literal.startsWith('[') || !/[:@]/.test(literal);

const messagesOf = (alert: object) =>
  configSchema.safeParse({ alert }).error?.issues.map(({ message }) => message) ?? [];
const refusal = ['must not lead to a link-local or cloud metadata address'];

describe('a receiver at a link-local or metadata address', () => {
  it.each(literals)('%s is refused when the configuration is loaded, whatever its type', (host) => {
    const all = [...receiversAt(host), ...(isHost(host) ? [mailAt(host)] : [])];
    for (const receiver of all) {
      expect([receiver.type, messagesOf({ receivers: [receiver] })]).toEqual([
        receiver.type,
        refusal,
      ]);
    }
    expect(messagesOf({ webhooks: [{ url: `http://${host}/in` }] })).toEqual(refusal);
  });
});

describe('a receiver at a private address or a name', () => {
  it.each([
    ...['127.0.0.1', '10.0.0.7', '172.16.0.9', '192.168.1.4', '100.64.0.1', '2130706433'],
    ...['[::1]', '[fd12:3456:789a::1]', '[::ffff:10.0.0.1]', 'localhost', 'mailhost'],
    ...['169.254.169.254.nip.io', 'metadata.example.com'],
  ])('%s is accepted, whatever its type', (host) => {
    for (const receiver of [...receiversAt(host), mailAt(host)]) {
      expect([receiver.type, messagesOf({ receivers: [receiver] })]).toEqual([receiver.type, []]);
    }
    expect(messagesOf({ webhooks: [{ url: `http://${host}/in` }] })).toEqual([]);
  });
});
