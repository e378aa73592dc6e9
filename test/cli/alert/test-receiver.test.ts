// Covers src/cli/alert/remedy-for.ts, src/cli/commands/alert.ts and src/cli/text/report-line.ts.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SMTPServerOptions } from 'smtp-server';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Answer } from '../../../src/alert/receiver.ts';
import { remedyFor } from '../../../src/cli/alert/remedy-for.ts';
import { TestServers } from '../../alert/http/test-servers.ts';
import { localSmtp } from '../../alert/receivers/kit/local-smtp.ts';
import { type Certificate, makeAuthority } from '../../e2e/kit/certificates.ts';
import { leaksIn } from '../../e2e/kit/leaks-in.ts';
import { run } from '../captured-io.ts';

const servers = new TestServers();
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await servers.closeAll();
  for (const close of closing.splice(0)) await close();
});

const folder = mkdtempSync(join(tmpdir(), 'tailmark-'));
afterAll(() => rmSync(folder, { recursive: true }));
const authority = makeAuthority('our authority');
const certificate = authority.issue('receiver');
const expired = authority.issue('receiver', { notAfter: new Date(Date.now() - 60_000) });
const named = authority.issue('receiver', { names: ['receiver.test'] });
const caFile = join(folder, 'ca.pem');
writeFileSync(caFile, authority.certPem);

type Settings = Readonly<Record<string, unknown>>;

/** Runs `alert test` of one receiver. */
async function test(settings: Settings, argv: readonly string[] = []) {
  const receivers = JSON.stringify([{ name: 'on-call', ...settings }]);
  const got = await run(['alert', 'test', 'on-call', ...argv], {
    env: { TAILMARK_ALERT_RECEIVERS: receivers },
  });
  expect(leaksIn(got.out + got.err)).toEqual([]);
  return got;
}

/** A server that answers all requests so. */
async function answering(status: number, body = '', headers: Record<string, string> = {}) {
  const { port } = await servers.http((_request, response) =>
    response.writeHead(status, headers).end(body),
  );
  return `http://127.0.0.1:${port}`;
}

async function smtp(options: SMTPServerOptions = {}) {
  const { certPem: cert, keyPem: key } = certificate;
  const server = await localSmtp({ cert, key, ...options });
  closing.push(server.close);
  return `127.0.0.1:${server.port}`;
}

/** A port at which nothing listens. */
async function closedPort(): Promise<number> {
  const server = await servers.raw(() => undefined);
  await servers.closeAll();
  return server.port;
}

const mailOf = (server: string, more: Settings = {}) => {
  const ends = { from: 'tailmark@mailhost', to: ['root@localhost'] };
  return { type: 'email', server, ca_file: caFile, ...ends, ...more };
};
const webhook = (url: string, more: Settings = {}) => ({ type: 'webhook', url, ...more });

const pagerduty = (url: string) => ({ type: 'pagerduty', routing_key: '0'.repeat(32), url });
const alertmanager = (...urls: string[]) => ({ type: 'alertmanager', urls });
const slackHook = (url: string) => ({ type: 'slack', url: `${url}/services/CANARY` });
const slackBot = (url: string) => {
  return { type: 'slack', token: 'xoxb-CANARY', channel: '#a', url };
};
const slackSays = async (error: string) =>
  slackBot(await answering(200, `{"ok":false,"error":"${error}"}`));
const login = { username: 'ann', password: 'CANARY-password' };
const atRecipient = (responseCode: number): SMTPServerOptions => ({
  onRcptTo: (_address, _session, done) => done(Object.assign(new Error('no'), { responseCode })),
});
const atContent: SMTPServerOptions = {
  onData: (stream, _session, done) => {
    stream.resume();
    stream.on('end', () => done(Object.assign(new Error('spam'), { responseCode: 554 })));
  },
};
const overTls = async (given: Certificate, more: Settings = {}) => {
  const { port } = await servers.http((_request, response) => response.end(), {
    certificate: given,
  });
  return webhook(`https://127.0.0.1:${port}/`, more);
};
const toRaw = async (listener: (socket: Socket) => void, more: Settings = {}) =>
  webhook(`http://127.0.0.1:${(await servers.raw(listener)).port}/CANARY`, more);
const silent = () => undefined;
const asPlace = (url: string) => url.replace('http://', '');

const soon = 'A running tailmark tries again: after 1 s at first, after 5 min at most.';
const every5 = 'A running tailmark tries again every 5 min.';
const once = 'A running tailmark sends a short form once, then gives the message up.';

describe('tailmark alert test, of a receiver that works', () => {
  it.each<[string, () => Promise<Settings>, string]>([
    ['a webhook', async () => webhook(`${await answering(200)}/CANARY`), '200 OK'],
    ['Alertmanager', async () => alertmanager(await answering(200)), '200 OK'],
    ['PagerDuty', async () => pagerduty(await answering(202, 'done')), '202 Accepted: done'],
    ['a Slack webhook', async () => slackHook(await answering(200, 'ok')), '200 OK: ok'],
    [
      'a Slack bot',
      async () => slackBot(await answering(200, '{"ok":true,"channel":"C1","ts":"1.2"}')),
      'ok',
    ],
    ['mail', async () => mailOf(await smtp(), login), '250 2.0.0 queued as Q1'],
  ])('%s: says what was accepted, and to look there', async (_, settings, answer) => {
    const { exitCode, out } = await test(await settings());
    expect(out.split('\n')).toEqual([
      `ok    on-call opening: accepted: ${answer}`,
      `ok    on-call end: accepted: ${answer}`,
      'Accepted. Look there: a message marked TEST should be, and its end.',
      '',
    ]);
    expect(exitCode).toBe(0);
  });

  it('mail for some recipients only: warns', async () => {
    const server = await smtp({
      onRcptTo: ({ address }, _session, done) =>
        address === 'gone@mailhost'
          ? done(Object.assign(new Error('unknown'), { responseCode: 550 }))
          : done(),
    });
    const { exitCode, out } = await test(
      mailOf(server, { to: ['root@localhost', 'gone@mailhost'] }),
    );
    expect(out).toContain(
      'warn  on-call opening: accepted: 250 2.0.0 queued as Q1; refused for gone@mailhost (550 unknown); accepted for root@localhost\n      Correct to: ',
    );
    expect(exitCode).toBe(0);
  });
});

describe('tailmark alert test, of a receiver that does not', () => {
  it.each<[string, () => Promise<Settings>, string, string, string]>([
    [
      'a wrong port',
      async () => webhook(`http://127.0.0.1:${await closedPort()}/CANARY`),
      'connection failed: ECONNREFUSED',
      'Nothing listens at 127.0.0.1:PORT: check url, and that it runs.',
      soon,
    ],
    [
      'a wrong port of Alertmanager',
      async () => alertmanager(`http://127.0.0.1:${await closedPort()}`),
      'connection failed: ECONNREFUSED',
      'Nothing listens at 127.0.0.1:PORT: check urls, and that it runs.',
      soon,
    ],
    [
      'a wrong port of a mail server',
      async () => mailOf(`127.0.0.1:${await closedPort()}`),
      'connect ECONNREFUSED 127.0.0.1:PORT',
      'Nothing listens at 127.0.0.1:PORT: check server, and that it runs.',
      soon,
    ],
    [
      'a wrong token, which it repeats',
      async () => webhook(await answering(401, 'no: CANARY-token'), { token: 'CANARY-token' }),
      '401 Unauthorized: no: ***',
      'Check token_file, secret_file and the token in url_file.',
      every5,
    ],
    [
      'a wrong password of Alertmanager',
      async () => alertmanager(await answering(401)),
      '401 Unauthorized',
      'Check username and password_file, or token_file.',
      every5,
    ],
    [
      'a wrong key of PagerDuty',
      async () => pagerduty(await answering(400, '{"errors":["Invalid routing key"]}')),
      '400 Bad Request: {"errors":["Invalid routing key"]}',
      'Check routing_key_file: the key of an integration "Events API v2", and url in the EU.',
      every5,
    ],
    [
      'a Slack webhook that was removed',
      async () => slackHook(await answering(403, 'invalid_token')),
      '403 Forbidden: invalid_token',
      'Check url_file: the incoming webhook may have been removed.',
      every5,
    ],
    [
      'a wrong token of Slack',
      () => slackSays('invalid_auth'),
      'Slack: invalid_auth',
      'Check token_file: it must be the bot token, xoxb-….',
      every5,
    ],
    [
      'a bot that was not invited',
      () => slackSays('not_in_channel'),
      'Slack: not_in_channel',
      'Invite the bot to the channel: /invite @tailmark.',
      every5,
    ],
    [
      'what is not the Web API of Slack',
      async () => slackBot(await answering(200, '<html>')),
      "200, which is no answer of Slack's Web API: check url",
      'Correct url: it leads to something else.',
      every5,
    ],
    [
      'a wrong password of a mail server',
      async () => mailOf(await smtp(), { ...login, password: 'CANARY-wrong' }),
      '535 5.7.8 no: ***',
      'Check username and password_file.',
      every5,
    ],
    [
      'a login that is missing',
      async () => mailOf(await smtp({ authOptional: false })),
      '530 Error: authentication Required',
      'Check username and password_file.',
      every5,
    ],
    [
      'a server that does not relay',
      async () => mailOf(await smtp(atRecipient(554))),
      '554 no',
      'Check from and to, and that the server relays mails from here.',
      every5,
    ],
    [
      'a filter for spam',
      async () => mailOf(await smtp(atContent)),
      '554 spam',
      'Look at the filters of the server: it refuses the content.',
      once,
    ],
    [
      'a mail server without TLS',
      async () => mailOf(await smtp({ disabledCommands: ['STARTTLS'] })),
      'no STARTTLS: 500 Error: command not recognized',
      'Use a port with STARTTLS, or 465; `tls: false` sends in the clear.',
      every5,
    ],
    [
      'a mail server of another authority',
      async () => mailOf(await smtp(), { ca_file: undefined }),
      "TLS handshake failed: the server's certificate is not signed by an authority that we trust",
      'Name a PEM file with the certificate of its authority in ca_file.',
      every5,
    ],
    [
      'another authority',
      () => overTls(certificate),
      "TLS: the server's certificate is not signed by an authority that we trust",
      'Name a PEM file with the certificate of its authority in ca_file.',
      soon,
    ],
    [
      'a certificate of another name',
      () => overTls(named, { ca_file: caFile }),
      "TLS: the server's certificate is for another name than the one we connect to",
      'Write the name of its certificate into url.',
      soon,
    ],
    [
      'a certificate that has expired',
      () => overTls(expired, { ca_file: caFile }),
      "TLS: the server's certificate has expired",
      'Renew the certificate there.',
      soon,
    ],
    [
      'https where there is none',
      async () => webhook((await answering(200)).replace('http:', 'https:')),
      'TLS: the server does not speak TLS at this port',
      'Write http:// in url, or the port of TLS.',
      soon,
    ],
    [
      'a wrong path',
      async () => webhook(await answering(404, 'nothing here')),
      '404 Not Found: nothing here',
      'Check the path in url.',
      every5,
    ],
    [
      'a wrong path of Alertmanager',
      async () => alertmanager(await answering(404)),
      '404 Not Found',
      'Check the path in urls: that of --web.route-prefix, without /api/v2/alerts.',
      every5,
    ],
    [
      'a redirect',
      async () => webhook(await answering(301, '', { location: 'https://x.example/CANARY' })),
      '301 Moved Permanently: it redirects, which is not followed',
      'Write the address that it redirects to into url.',
      every5,
    ],
    [
      'a format that is not understood',
      async () => webhook(await answering(400, 'what?')),
      '400 Bad Request: what?',
      'Check format and url: it does not understand the body.',
      once,
    ],
  ])(
    'for %s: one attempt, what to do, what happens next',
    async (_, settings, answer, todo, next) => {
      const { exitCode, out } = await test(await settings());
      const [first = '', ...rest] = out
        .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
        .split('\n');
      const start = 'fail  on-call opening: not accepted: ';
      expect(first.slice(0, start.length)).toBe(start);
      expect(first.slice(start.length)).toBe(answer);
      expect(rest).toEqual([`      ${todo}`, `      ${next}`, '']);
      expect(exitCode).toBe(1);
    },
  );

  it.each<[string, () => Promise<Settings>, string, string]>([
    [
      'never responds',
      () => toRaw(silent, { timeout: '200ms' }),
      'no response within 200 ms',
      'Check url and firewalls, or raise timeout.',
    ],
    [
      'waits for TLS',
      async () => mailOf(await smtp({ secure: true }), { timeout: '200ms' }),
      'no response within 200 ms',
      'Check server and firewalls, or raise timeout. A server at which TLS begins at once must have port 465.',
    ],
    [
      'closes the connection',
      () => toRaw((socket) => socket.destroy()),
      'connection closed before a response',
      'Something else may listen at 127.0.0.1:PORT: check port and scheme.',
    ],
    [
      'speaks another protocol',
      () => toRaw((socket) => socket.end('220 mail\r\n')),
      'the response is not HTTP',
      'Something else may listen at 127.0.0.1:PORT: check port and scheme.',
    ],
    [
      'fails',
      async () => webhook(await answering(500, 'oops')),
      '500 Internal Server Error: oops',
      'Look at the log of the receiver: the error is there.',
    ],
    [
      'limits requests',
      async () => webhook(await answering(429, 'slow down')),
      '429 Too Many Requests: slow down',
      'Nothing is to be corrected: it limits requests.',
    ],
    [
      'puts mails off',
      async () => mailOf(await smtp(atRecipient(450))),
      '450 no',
      'Look at the log of the server if this lasts: it asks to come later.',
    ],
  ])('but %s: it may be open there, so the end is sent too', async (_, settings, what, todo) => {
    const { exitCode, out } = await test(await settings());
    expect(out.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT').split('\n')).toEqual([
      `fail  on-call opening: not accepted: ${what}`,
      `      ${todo}`,
      `      ${soon}`,
      `fail  on-call end: not accepted: ${what}`,
      '',
    ]);
    expect(exitCode).toBe(1);
  });

  it('names the Alertmanager of a cluster, and goes on with the others', async () => {
    const [good, bad] = [await answering(200), await answering(401)];
    const { exitCode, out } = await test(alertmanager(bad, good));
    expect(out).toContain(
      `fail  on-call ${asPlace(bad)} opening: not accepted: 401 Unauthorized\n`,
    );
    expect(out).toContain(`ok    on-call ${asPlace(good)} end: accepted: 200 OK\n`);
    expect(exitCode).toBe(1);
  });

  it('--json has the same, with what to do', async () => {
    const { out } = await test(alertmanager(await answering(401)), ['--json']);
    expect(JSON.parse(out)).toEqual({
      ok: false,
      steps: [
        {
          receiver: 'on-call',
          state: 'opened',
          outcome: 'rejected',
          answer: '401 Unauthorized',
          hint: 'Check username and password_file, or token_file.',
        },
      ],
    });
  });
});

describe('tailmark alert test, of a receiver that is not there', () => {
  it.each([
    [['alert', 'test', 'x'], 'Cannot test the receiver "x": it must be one of on-call'],
    [['alert', 'test'], 'Cannot test a receiver without its name: it must be one of on-call'],
  ])('%j names those that are', async (argv, message) => {
    const receivers = JSON.stringify([{ name: 'on-call', ...webhook('http://127.0.0.1/') }]);
    const { exitCode, err } = await run(argv, { env: { TAILMARK_ALERT_RECEIVERS: receivers } });
    expect(err).toContain(`error: ${message}\n`);
    expect(exitCode).toBe(1);
  });

  it.each<[Answer['outcome'], string, string]>([
    [
      'rejected',
      'hooks.test: address 169.254.169.254 is link-local: refused',
      'Set another address in url: this one is never connected to.',
    ],
    [
      'failed',
      'connection failed: ENOTFOUND',
      'The name in url is not known here: check its spelling, and DNS.',
    ],
    [
      'failed',
      'getaddrinfo EAI_AGAIN mail.example',
      'The name in url is not known here: check its spelling, and DNS.',
    ],
  ])('says what to do about a name: %s, %s', (outcome, answer, todo) => {
    expect(remedyFor({ outcome, answer }, undefined)).toBe(todo);
  });
});
