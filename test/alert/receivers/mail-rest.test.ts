import { describe, expect, it } from 'vitest';
import { headersOf, reply } from './kit/local-smtp.ts';
import { receiverOf, serve } from './kit/mail-receiver.ts';
import { noticeOf } from './kit/notices.ts';

describe('a mail', () => {
  it.each([421, 450, 451, 452, 499])(
    'that the server takes later for one recipient is sent to that one alone: %i',
    async (code) => {
      let isLater = true;
      const server = await serve({
        onRcptTo: ({ address }, _session, done) =>
          isLater && address.startsWith('b') ? done(reply(code, 'later')) : done(),
      });
      const to = ['a@example.com', 'b@bücher.example', 'c@example.com'];
      const receiver = receiverOf(server.port, { to });
      const first = await receiver.send(noticeOf('opened'), 'full');
      expect(first).toMatchObject({ outcome: 'accepted', retryAfterMs: 30_000 });
      const domain = code === 421 ? 'b@bücher.example' : 'b@xn--bcher-kva.example';
      expect(first.answer).toBe(
        `250 2.0.0 queued as Q1; to be tried again for ${domain} (${code} later); ` +
          'accepted for a@example.com, c@example.com',
      );
      const memory = first.memory ?? '';
      expect(receiver.rest(memory)).toBe('opened');
      const rest = noticeOf('opened', { memory, isRest: true });
      expect(await receiver.send(rest, 'full')).toMatchObject({
        outcome: 'failed',
        answer: `for b@bücher.example: ${code} later`,
      });
      isLater = false;
      const last = await receiver.send(rest, 'full');
      expect(last).toMatchObject({ outcome: 'accepted', memory: '' });
      expect(receiver.rest(last.memory ?? '')).toBeUndefined();
      // After 421 the connection is over, so each recipient gets a mail of their own.
      const mails = code === 421 ? [[to[0]], [to[2]]] : [[to[0], to[2]]];
      expect(server.mails.map((mail) => mail.to)).toEqual([...mails, [to[1]]]);
      // The mail itself names all.
      const header = headersOf(server.mails.at(-1)?.raw ?? '').fields.get('to');
      expect(header).toContain('a@example.com');
    },
  );

  it('is for all again in the next state, and 50 recipients fit into what is remembered', async () => {
    const to = Array.from({ length: 50 }, (_, i) => `${'long'.repeat(15)}.${i}@example.com`);
    const server = await serve({
      onRcptTo: ({ address }, _session, done) =>
        address === to[0] ? done() : done(reply(451, 'later')),
    });
    const receiver = receiverOf(server.port, { to });
    const { memory = '' } = await receiver.send(noticeOf('opened'), 'full');
    expect(receiver.rest(memory)).toBe('opened');
    expect(memory.length).toBeLessThan(2_000);
    await receiver.send(noticeOf('resolved', { memory }), 'full');
    expect(server.mails.map((mail) => mail.to)).toEqual([[to[0]], [to[0]]]);
  });

  it('whose content the server takes later is sent to all again', async () => {
    let isLater = true;
    const mails: string[] = [];
    const server = await serve({
      onData: (stream, session, done) => {
        stream.resume();
        stream.on('end', () => {
          if (isLater) return done(reply(451, 'later'));
          mails.push(...session.envelope.rcptTo.map(({ address }) => address));
          return done(null, '2.0.0 queued');
        });
      },
    });
    const to = ['a@example.com', 'b@example.com'];
    const receiver = receiverOf(server.port, { to });
    const first = await receiver.send(noticeOf('opened'), 'full');
    expect(first).toMatchObject({ outcome: 'failed', retryAfterMs: 30_000 });
    isLater = false;
    await receiver.send(noticeOf('opened'), 'full');
    expect(mails).toEqual(to);
  });

  it('is not asked for each recipient where the server closes for all', async () => {
    let asked = 0;
    const server = await serve({
      onMailFrom: (_address, _session, done) => {
        asked++;
        done(reply(421, 'too busy'));
      },
    });
    const to = Array.from({ length: 50 }, (_, i) => `${i}@example.com`);
    const answer = await receiverOf(server.port, { to }).send(noticeOf('opened'), 'full');
    expect(answer).toMatchObject({ outcome: 'failed', answer: '421 too busy' });
    expect(asked).toBe(4);
  });

  it('has nobody left where the rest are no recipients any more', async () => {
    const server = await serve({ onRcptTo: (_address, _session, done) => done() });
    const memory = '{"change":"opened","later":["0123456789ab"]}';
    const answer = await receiverOf(server.port).send(
      noticeOf('opened', { memory, isRest: true }),
      'full',
    );
    expect(answer).toMatchObject({ outcome: 'accepted', memory: '' });
    expect(server.mails).toEqual([]);
  });
});
