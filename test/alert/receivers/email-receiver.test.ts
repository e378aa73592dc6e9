import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import fc from 'fast-check';
import { createTransport } from 'nodemailer';
import type { SMTPServerOptions } from 'smtp-server';
import { describe, expect, it } from 'vitest';
import { smtpOptions } from '../../../src/alert/receivers/email-receiver.ts';
import { leaksIn } from '../../e2e/kit/leaks-in.ts';
import { anyNotice, changes, kinds } from './kit/any-notice.ts';
import { ca, headersOf, otherCa, partOf, reply } from './kit/local-smtp.ts';
import { closing, configOf, receiverOf, serve } from './kit/mail-receiver.ts';
import { clockAt, hostileNames, noticeOf, richEvent } from './kit/notices.ts';

/** A server that says one line and nothing more; `''` says nothing. */
async function serveLine(line: string) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (line !== '') socket.end(`${line}\r\n`);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closing.push(() => new Promise((done) => server.close(() => done())));
  return (server.address() as AddressInfo).port;
}

const login = { username: 'ann', password: 'CANARY-password' };

describe('a mail that is not sent', () => {
  const refusedBy = (options: SMTPServerOptions, settings?: object) => async () => {
    const { port } = await serve(options);
    return receiverOf(port, settings).send(noticeOf('opened'), 'full');
  };
  const atMail = (error: Error) =>
    refusedBy({ onMailFrom: (_address, _session, done) => done(error) });
  const atRecipient = (error: Error) =>
    refusedBy({ onRcptTo: (_address, _session, done) => done(error) });
  const atData = (error: Error) =>
    refusedBy({
      onData: (stream, _session, done) => {
        stream.resume();
        stream.on('end', () => done(error));
      },
    });

  it.each([
    ['a wrong password', refusedBy({}, { ...login, password: 'CANARY-wrong' }), 'rejected', '535'],
    [
      'a login that the server cannot check now',
      refusedBy({ onAuth: (_auth, _session, done) => done(reply(454, 'later')) }, login),
      'failed',
      '454',
    ],
    ['a login that is required', refusedBy({ authOptional: false }), 'rejected', '530'],
    ['a sender that is refused', atMail(reply(553, 'not yours')), 'rejected', '553'],
    ['no sender for now', atMail(reply(451, 'try again')), 'failed', '451'],
    ['no recipient', atRecipient(reply(550, 'unknown')), 'rejected', '550'],
    ['a refused relay', atRecipient(reply(554, 'relay denied')), 'rejected', '554'],
    ['grey-listing', atRecipient(reply(450, 'grey')), 'failed', '450'],
    ['content that is refused', atData(reply(554, 'spam')), 'unacceptable', '554'],
    ['a mail that is too large', atData(reply(552, 'too large')), 'unacceptable', '552'],
    ['a line that is refused', atData(reply(500, 'line too long')), 'unacceptable', '500'],
    ['a full queue', atData(reply(452, 'full')), 'failed', '452'],
    ['a server without TLS', refusedBy({ disabledCommands: ['STARTTLS'] }), 'rejected', 'STARTTLS'],
  ] as const)('for %s', async (_, send, outcome, answer) => {
    const got = await send();
    expect(got).toMatchObject({ outcome });
    expect(got.answer).toContain(answer);
    expect(leaksIn(got.answer)).toEqual([]);
  });

  it.each([
    ['another authority', { ca: otherCa }, 'not signed by an authority that we trust'],
    ['another name', { server: 'smtp.example' }, 'for another name'],
    ['a name, for an address', { server: '127.0.0.1' }, 'for another name'],
  ])(
    'for a certificate of %s',
    async (_, { server, ...changed }: { ca?: string; server?: string }, why) => {
      const { port, mails } = await serve();
      const settings = server === undefined ? {} : { server: `${server}:${port}` };
      const got = await receiverOf(port, settings, changed).send(noticeOf('opened'), 'full');
      expect(got.outcome).toBe('rejected');
      expect(got.answer).toContain(why);
      expect(mails).toEqual([]);
    },
  );

  it.each([
    ['closes at once', '421 4.3.2 shutting down', 'failed', '421'],
    ['accepts nobody', '554 5.7.1 blocked', 'rejected', '554'],
    ['speaks another protocol', 'HTTP/1.1 400 Bad Request', 'failed', ''],
  ])('for a server that %s', async (_, line, outcome, answer) => {
    const port = await serveLine(line);
    const got = await receiverOf(port).send(noticeOf('opened'), 'full');
    expect(got).toMatchObject({ outcome });
    expect(got.answer).toContain(answer);
  });

  it('for a server that never responds, within the timeout', async () => {
    const port = await serveLine('');
    const clock = { ...clockAt('2026-11-21T10:31:00Z'), sleep: async () => undefined };
    const got = await receiverOf(port, { timeout: '900ms' }, { clock }).send(
      noticeOf('opened'),
      'full',
    );
    expect(got).toMatchObject({ outcome: 'failed', answer: 'no response within 900 ms' });
  });

  it('for a server that is not there', async () => {
    const got = await receiverOf(1).send(noticeOf('opened'), 'full');
    expect(got.outcome).toBe('failed');
    expect(got.answer).toContain('ECONNREFUSED');
  });

  it('for a name that does not resolve', async () => {
    const resolve = () => Promise.reject(new Error('getaddrinfo ENOTFOUND mail.example'));
    const got = await receiverOf(1, {}, { resolve }).send(noticeOf('opened'), 'full');
    expect(got).toEqual({ outcome: 'failed', answer: 'getaddrinfo ENOTFOUND mail.example' });
  });

  it('to an address that is refused, as a name or once it is resolved', async () => {
    const { port, mails } = await serve();
    const refuse = (host: string) => ({
      refusal: (asked: string) => (asked === host ? `address ${host}: refused` : undefined),
    });
    for (const host of ['mail.example', '127.0.0.1']) {
      const got = await receiverOf(port, {}, refuse(host)).send(noticeOf('opened'), 'full');
      expect(got).toEqual({ outcome: 'rejected', answer: `address ${host}: refused` });
    }
    expect(mails).toEqual([]);
  });
});

describe('a mail', () => {
  it('goes over verified TLS with a login, as text and HTML', async () => {
    const server = await serve();
    const to = ['oncall@example.com', 'second@example.com'];
    const got = await receiverOf(server.port, { ...login, to }).send(noticeOf('opened'), 'full');
    expect(got.outcome).toBe('accepted');
    expect(got.answer).toContain('queued as Q1');
    const [mail] = server.mails;
    expect(mail).toMatchObject({ from: 'tailmark@example.com', to, isTls: true, user: 'ann' });
    const { fields } = headersOf(mail?.raw ?? '');
    expect(fields.get('from')).toBe('tailmark <tailmark@example.com>');
    expect(fields.get('to')).toBe('oncall@example.com, second@example.com');
    expect(fields.get('subject')).toBe(
      'CRITICAL ranker, most affected: p99 512 ms, 2.1x its baseline, blame queue; since 10:17 UTC; 12 of 24 series',
    );
    expect(fields.get('date')).toBe('Sat, 21 Nov 2026 10:31:00 +0000');
    expect(fields.get('message-id')).toBe(`<${richEvent.id}.1.opened@example.com>`);
    expect(fields.get('auto-submitted')).toBe('auto-generated');
    expect(fields.get('x-tailmark-severity')).toBe('critical');
    expect(fields.get('importance')).toBe('High');
    expect(fields.has('x-mailer')).toBe(false);
    const text = partOf(mail?.raw ?? '', 'text/plain');
    expect(text).toMatch(/^CRITICAL ranker, most affected: p99 512 ms/);
    expect(text).toContain(
      'Blame: most affected series, slowest 1 %: mean +268 ms; queue +190 ms (70 %)',
    );
    const html = partOf(mail?.raw ?? '', 'text/html');
    expect(html).toContain('<meta name="color-scheme" content="light dark">');
    expect(html).toContain(`<a href="https://tailmark.example.com/incidents/${richEvent.id}">`);
    expect(html).not.toMatch(/<img|<script|<style|background|url\(/i);
  });

  it('on port 465 begins with TLS, verified', async () => {
    const server = await serve({ secure: true });
    const options = smtpOptions({ config: configOf(465), ca }, '127.0.0.1');
    const mail = { from: 'a@example.com', to: 'b@example.com', text: 'x' };
    await createTransport({ ...options, port: server.port }).sendMail(mail);
    expect(server.mails[0]?.isTls).toBe(true);
    const wrong = smtpOptions({ config: configOf(465), ca: otherCa }, '127.0.0.1');
    const refused = createTransport({ ...wrong, port: server.port }).sendMail(mail);
    await expect(refused).rejects.toThrow('certificate');
    expect(server.mails).toHaveLength(1);
  });

  it('without TLS goes in the clear, where that is configured', async () => {
    const server = await serve();
    const got = await receiverOf(server.port, { tls: false }).send(noticeOf('opened'), 'full');
    expect(got.outcome).toBe('accepted');
    expect(server.mails[0]?.isTls).toBe(false);
  });

  it.each([
    'root@localhost',
    'ops@mailhost',
    'ops@[10.0.0.5]',
    'ops@[IPv6:fd00::5]',
    '"on:call"@example.com',
    "o'neill+pages@example.com",
    'a_b@mail-host.internal',
    'bj\u00f6rn@example.com',
  ])('reaches %s, from and to an intranet', async (address) => {
    const server = await serve();
    const got = await receiverOf(server.port, { from: address, to: [address] }).send(
      noticeOf('opened'),
      'full',
    );
    expect(got.outcome).toBe('accepted');
    expect(server.mails).toMatchObject([{ from: address, to: [address] }]);
    const { fields } = headersOf(server.mails[0]?.raw ?? '');
    expect(fields.get('message-id')).toBe(
      `<${richEvent.id}.1.opened@${address.slice(address.lastIndexOf('@') + 1)}>`,
    );
  });

  it('to a domain that is not ASCII goes to its ASCII form', async () => {
    const server = await serve();
    const address = 'ops@b\u00fccher.example';
    await receiverOf(server.port, { from: address, to: [address] }).send(
      noticeOf('opened'),
      'full',
    );
    const { fields } = headersOf(server.mails[0]?.raw ?? '');
    expect(fields.get('message-id')).toBe(`<${richEvent.id}.1.opened@xn--bcher-kva.example>`);
  });

  it('that some recipients refuse is accepted, and the answer names them', async () => {
    const server = await serve({
      onRcptTo: ({ address }, _session, done) =>
        address.startsWith('gone') ? done(reply(550, 'no such user')) : done(),
    });
    const to = ['gone@example.com', 'oncall@example.com'];
    const got = await receiverOf(server.port, { to }).send(noticeOf('opened'), 'full');
    expect(got.outcome).toBe('accepted');
    const refused =
      'refused for gone@example.com (550 no such user); accepted for oncall@example.com';
    expect(got.answer).toBe(`250 2.0.0 queued as Q1; ${refused}`);
    expect([got.refused, got.memory]).toEqual([refused, '']);
    expect(server.mails[0]?.to).toEqual(['oncall@example.com']);
  });
});

describe('the mails of an incident', () => {
  const titles = [
    'CRITICAL ranker, most affected: p99 512 ms, 2.1x its baseline, blame queue; since 10:17 UTC; 12 of 24 series',
    'CRITICAL (was warning) ranker, most affected: p99 512 ms, 2.1x its baseline, blame queue; since 10:17 UTC; 12 of 24 series',
    'RESOLVED ranker p99 back at its baseline; 10:17 to 10:27 UTC (10 min); 12 of 24 series',
  ];

  it('are one thread by one reference, whatever ids the server gives, each with a title of its own', async () => {
    const server = await serve();
    const receiver = receiverOf(server.port);
    let memory = '';
    for (const change of ['opened', 'risen', 'resolved'] as const) {
      const answer = await receiver.send(noticeOf(change, { memory }), 'full');
      memory = answer.memory ?? '';
    }
    const heads = server.mails.map(({ raw }) => headersOf(raw).fields);
    expect(heads.map((head) => head.get('subject'))).toEqual(titles);
    const root = `<${richEvent.id}@example.com>`;
    expect(heads.map((head) => head.get('in-reply-to'))).toEqual([root, root, root]);
    expect(heads.map((head) => head.get('references'))).toEqual([root, root, root]);
    expect(heads.map((head) => head.get('message-id'))).toEqual(
      ['1.opened', '1.risen', '3.resolved'].map((end) => `<${richEvent.id}.${end}@example.com>`),
    );
    expect(partOf(server.mails[2]?.raw ?? '', 'text/plain')).toMatch(/^RESOLVED ranker p99 back/);
    expect(heads[2]?.get('x-tailmark-severity')).toBe('ended');
  });

  it.each([
    ['resolved', 'RESOLVED '],
    ['past', 'ENDED '],
  ] as const)('that say %s begin with %s, whatever was sent before', async (change, start) => {
    const server = await serve();
    const memory = JSON.stringify({ subject: 'CRITICAL of an older version' });
    await receiverOf(server.port).send(noticeOf(change, { memory }), 'full');
    const { fields } = headersOf(server.mails[0]?.raw ?? '');
    expect(fields.get('subject')?.startsWith(start)).toBe(true);
  });

  it.each(changes)('are sent as a preview shows them: %s', async (change) => {
    const server = await serve();
    const receiver = receiverOf(server.port, { to: ['a@example.com', 'root@localhost'] });
    for (const form of ['full', 'minimal'] as const) {
      const notice = noticeOf(change);
      await receiver.send(notice, form);
      const [preview] = receiver.preview(notice, form);
      const [head = '', ...rest] = (preview?.body ?? '').split('\n\n');
      const raw = server.mails.at(-1)?.raw ?? '';
      const { fields } = headersOf(raw);
      for (const line of head.split('\n')) {
        const colon = line.indexOf(':');
        const name = line.slice(0, colon).toLowerCase();
        expect([name, fields.get(name)]).toEqual([name, line.slice(colon + 2)]);
      }
      const text = partOf(raw, 'text/plain').replaceAll('\r\n', '\n');
      expect(rest.join('\n\n').trim()).toBe(text.trim());
    }
  });

  it('are not sent for updates, and are for what is past', () => {
    const { feed, wantsUpdates, wantsPast } = receiverOf(25);
    expect([feed, wantsUpdates, wantsPast]).toEqual(['state', false, true]);
  });
});

describe('names from events', () => {
  const expected = [
    ...['from', 'to', 'subject', 'message-id', 'date', 'mime-version', 'content-type'],
    ...[
      'in-reply-to',
      'references',
      'auto-submitted',
      'x-auto-response-suppress',
      'x-tailmark-severity',
    ],
    ...['x-priority', 'x-msmail-priority', 'importance'],
  ].sort();

  it('add no header, no recipient and no markup', async () => {
    const server = await serve();
    const receiver = receiverOf(server.port);
    for (const name of hostileNames) {
      const event = { ...richEvent, model: name, stage: name, host: name, summary: name };
      const got = await receiver.send(noticeOf('opened', { event }), 'full');
      expect(got.outcome).toBe('accepted');
    }
    expect(server.mails).toHaveLength(hostileNames.length);
    for (const { raw, to } of server.mails) {
      expect(to).toEqual(['oncall@example.com']);
      expect([...headersOf(raw).names].sort()).toEqual(expected);
      const html = partOf(raw, 'text/html');
      const tags = new Set(html.match(/<[a-z!/][^>]*>/gi)?.map((tag) => /\w+/.exec(tag)?.[0]));
      expect([...tags].sort()).toEqual(
        ['a', 'b', 'body', 'doctype', 'head', 'html', 'meta', 'p', 'pre', 'table', 'td', 'th']
          .concat('title', 'tr')
          .sort(),
      );
      expect(html.match(/href="[^"]*"/g)).toHaveLength(3);
    }
  });

  it('leave a subject of one line, whatever they are', () => {
    const receiver = receiverOf(25);
    fc.assert(
      fc.property(
        anyNotice,
        fc.constantFrom('full' as const, 'minimal' as const),
        (notice, form) => {
          const [preview] = receiver.preview(notice, form);
          const [head = ''] = (preview?.body ?? '').split('\n\n');
          expect(head.split('\n').map((line) => line.split(':')[0])).toEqual([
            ...['From', 'To', 'Subject', 'Message-ID', 'In-Reply-To', 'References'],
            ...['Auto-Submitted', 'X-Auto-Response-Suppress', 'X-Tailmark-Severity'],
          ]);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('leave a mail of every kind and change', () => {
    const receiver = receiverOf(25);
    for (const kind of kinds) {
      for (const change of changes) {
        const notice = noticeOf(change);
        const [preview] = receiver.preview({ ...notice, event: { ...notice.event, kind } }, 'full');
        expect(preview?.target).toBe('MAIL to oncall@example.com');
        expect(preview?.body).toMatch(/\nSubject: (CRITICAL|RESOLVED|ENDED) /);
      }
    }
  });
});
