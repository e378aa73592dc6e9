import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { HttpPost, HttpResult } from '../../../src/alert/http/http-sender.ts';
import { UndiciSender } from '../../../src/alert/http/undici-sender.ts';
import { leaksIn } from '../../e2e/kit/leaks-in.ts';
import { TestServers } from './test-servers.ts';

const servers = new TestServers();
afterEach(() => servers.closeAll());

const nowMs = Date.UTC(2026, 10, 27);
/** Long enough for a busy machine. */
const patientMs = 20_000;

function post(
  url: string,
  timeoutMs = patientMs,
  rest: Partial<HttpPost> = {},
): Promise<HttpResult> {
  const sender = new UndiciSender({ timeoutMs, env: {}, nowMs: () => nowMs });
  return sender.post({ url, headers: {}, body: '{}', ...rest });
}

/** Answers each connection with these bytes once the request has begun; `end` closes it. */
async function postToBytes(parts: { bytes: string; end: boolean }, timeoutMs = patientMs) {
  const server = await servers.raw((socket) => {
    socket.once('data', () => (parts.end ? socket.end(parts.bytes) : socket.write(parts.bytes)));
  });
  const result = await post(`http://127.0.0.1:${server.port}/CANARY?t=CANARY`, timeoutMs);
  expect(leaksIn(JSON.stringify(result))).toEqual([]);
  await server.idle();
  return result;
}

describe('UndiciSender, where no response comes', () => {
  it('waits for the time-out at most', async () => {
    const server = await servers.http(() => undefined);
    const result = await post(`http://127.0.0.1:${server.port}/CANARY`, 100);
    // A slow machine may not get as far as the request; never are there two.
    expect(result).toMatchObject({ error: 'no response within 100 ms' });
    expect(server.requests.length).toBeLessThanOrEqual(1);
    await server.idle();
  });

  it('says that a request may have arrived where it was sent', async () => {
    const server = await servers.http(() => void sender.close());
    const sender = new UndiciSender({ timeoutMs: patientMs, env: {}, nowMs: () => nowMs });
    const url = `http://127.0.0.1:${server.port}/`;
    const result = await sender.post({ url, headers: {}, body: '' });
    expect(server.requests).toHaveLength(1);
    expect(result).toEqual({ error: 'the sender is closed', wasSent: true });
  });

  it('waits no longer for a name that is never resolved', async () => {
    const resolve = () => new Promise<never>(() => undefined);
    const sender = new UndiciSender({ timeoutMs: 50, env: {}, nowMs: () => nowMs, resolve });
    const result = await sender.post({ url: 'http://hooks.test/', headers: {}, body: '' });
    expect(result).toEqual({ error: 'no response within 50 ms' });
  });

  it('waits no longer for a TLS handshake that never ends, and drops the connection', async () => {
    const server = await servers.raw((socket) => socket.resume());
    const result = await post(`https://127.0.0.1:${server.port}/CANARY`, 50);
    expect(result).toEqual({ error: 'no response within 50 ms' });
    await server.idle();
  });

  it('waits no longer for a header that drips', async () => {
    const server = await servers.raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
      const drip = setInterval(() => socket.write('a'), 5);
      socket.on('close', () => clearInterval(drip));
      socket.resume();
    });
    const result = await post(`http://127.0.0.1:${server.port}/`, 200);
    expect(result).toMatchObject({ error: 'no response within 200 ms' });
    await server.idle();
  });

  it('names a refused connection', async () => {
    const server = await servers.raw(() => undefined);
    await server.close();
    const result = await post(`http://127.0.0.1:${server.port}/CANARY`);
    expect(result).toEqual({ error: 'connection failed: ECONNREFUSED' });
  });

  it('names a reset connection', async () => {
    const server = await servers.raw((socket) =>
      socket.once('data', () => socket.resetAndDestroy()),
    );
    const result = await post(`http://ann:CANARY@127.0.0.1:${server.port}/CANARY`);
    expect(result).toEqual({ error: 'connection failed: ECONNRESET', wasSent: true });
    expect(server.connectionCount()).toBe(1);
  });

  it('posts once: a server that hangs up is not tried again', async () => {
    const server = await servers.raw((socket) => socket.once('data', () => socket.end()));
    const result = await post(`http://127.0.0.1:${server.port}/CANARY`);
    expect(result).toEqual({ error: 'connection closed before a response', wasSent: true });
    expect(server.connectionCount()).toBe(1);
  });

  it.each([
    ['SSH-2.0-OpenSSH_9.9\r\n', /^the response is not HTTP$/],
    ['HTTP/1.1 2x0 OK\r\n\r\n', /^the response is not HTTP$/],
    ['HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n', /^the response is not HTTP$/],
    [`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`, /^connection failed: \w+$/],
    ['HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n', /^connection \w+/],
    // undici takes an interim 100 that it did not ask for as an error.
    ['HTTP/1.1 100 Continue\r\n\r\n', /^connection \w+/],
  ])('refuses what is not a response: %j', async (bytes, error) => {
    expect(await postToBytes({ bytes, end: false })).toEqual({
      error: expect.stringMatching(error),
      wasSent: true,
    });
  });

  it.each([
    [{ 'x-a': 'b\r\nx-c: d' }],
    [{ 'x a': 'b' }],
    [{ 'transfer-encoding': 'CANARY' }],
    [{ 'content-length': '-1' }],
  ])('sends no header that is not valid: %j', async (headers) => {
    const server = await servers.http((_, response) => response.end());
    const result = await post(`http://127.0.0.1:${server.port}/`, patientMs, { headers });
    expect(result).toEqual({ error: 'cannot be sent: a header or the address is not valid' });
    expect(server.requests).toEqual([]);
  });

  it('ends posts under way when it is closed, and begins none', async () => {
    const sender = new UndiciSender({ timeoutMs: patientMs, env: {}, nowMs: () => nowMs });
    const server = await servers.http(() => void sender.close());
    const request = { url: `http://127.0.0.1:${server.port}/`, headers: {}, body: '' };
    expect(await sender.post(request)).toMatchObject({ error: 'the sender is closed' });
    expect(await sender.post(request)).toEqual({ error: 'the sender is closed' });
    expect(server.connectionCount()).toBe(1);
    await server.idle();
  });
});

describe('UndiciSender, of a response', () => {
  it('reads at most 4 kB of an endless body, and hangs up', async () => {
    let sentBytes = 0;
    const server = await servers.http((_, response) => {
      const part = 'x'.repeat(1_000);
      const pour = () => {
        while (!response.destroyed) {
          sentBytes += part.length;
          if (!response.write(part)) return;
        }
      };
      response.on('drain', pour);
      pour();
    });
    const result = await post(`http://127.0.0.1:${server.port}/`);
    expect(result).toMatchObject({ status: 200, text: 'x'.repeat(4_096) });
    await server.idle();
    expect(sentBytes).toBeLessThan(64 * 1024 * 1024);
  });

  it('waits for a body that drips until the time-out, and has what came of it', async () => {
    const bytes = 'HTTP/1.1 500 Oops\r\ncontent-length: 100\r\n\r\nhalf';
    expect(await postToBytes({ bytes, end: false }, 1_000)).toMatchObject({
      status: 500,
      text: 'half',
    });
  });

  it.each([
    ['HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf', 200, 'half'],
    ['HTTP/1.1 503 No\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n', 503, 'half'],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n', 200, 'half'],
    ['HTTP/1.0 200 OK\r\n\r\nall', 200, 'all'],
    ['HTTP/1.1 204 No Content\r\n\r\n', 204, ''],
    ['HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n', 202, ''],
  ])('has the status though the body breaks off: %j', async (bytes, status, text) => {
    expect(await postToBytes({ bytes, end: true })).toMatchObject({ status, text });
  });

  it('leaves out a character that the limit cuts', async () => {
    const server = await servers.http((_, response) => response.end(`x${'ü'.repeat(3_000)}`));
    const result = await post(`http://127.0.0.1:${server.port}/`);
    expect(result).toMatchObject({ text: `x${'ü'.repeat(2_047)}` });
  });

  it.each([301, 302, 303, 307, 308])('does not follow a redirect %d to itself', async (status) => {
    const server = await servers.http((request, response) => {
      const location = `http://${request.headers.host}/again`;
      response.writeHead(status, { location }).end('moved');
    });
    const result = await post(`http://127.0.0.1:${server.port}/`);
    expect(result).toMatchObject({ status, text: 'moved' });
    expect(server.connectionCount()).toBe(1);
    expect(server.requests.map(({ url }) => url)).toEqual(['/']);
  });

  const date = 'Fri, 27 Nov 2026 00:00:10 GMT';
  const dateMs = nowMs + 10_000;
  it.each([
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-1' }, undefined],
    [{}, undefined],
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': ['7', '9'] }, 7_000],
    [{ 'retry-after': '86400' }, 900_000],
    [{ 'retry-after': 'Fri, 27 Nov 2026 00:01:00 GMT' }, 60_000],
    [{ date, 'retry-after': 'Fri, 27 Nov 2026 00:01:00 GMT' }, 50_000],
    [{ date: 'today', 'retry-after': 'Fri, 27 Nov 2026 00:01:00 GMT' }, 60_000],
    [{ date, 'retry-after': 'Thu, 26 Nov 2026 00:00:00 GMT' }, 0],
  ])('reads %j', async (headers, retryAfterMs) => {
    const server = await servers.http((_, response) => {
      response.sendDate = false;
      response.statusCode = 429;
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      response.end();
    });
    expect(await post(`http://127.0.0.1:${server.port}/`)).toEqual({
      status: 429,
      text: '',
      retryAfterMs,
      dateMs: 'date' in headers && headers.date === date ? dateMs : undefined,
    });
  });
});

describe('UndiciSender', () => {
  it('posts the headers and the body to the path and query', async () => {
    const server = await servers.http((_, response) => response.end('thanks'));
    const body = JSON.stringify({ summary: '🦊'.repeat(50_000) });
    const url = `http://127.0.0.1:${server.port}/a%2Fb/?c=d&e#f`;
    const headers = { 'content-type': 'application/json', 'X-Id': '7' };
    expect(await post(url, patientMs, { headers, body })).toMatchObject({ text: 'thanks' });
    const [seen] = server.requests;
    expect(seen).toMatchObject({ method: 'POST', url: '/a%2Fb/?c=d&e' });
    expect(seen?.headers).toEqual({
      host: `127.0.0.1:${server.port}`,
      connection: 'close',
      'content-type': 'application/json',
      'x-id': '7',
      'content-length': String(Buffer.byteLength(body)),
    });
    const digest = (text = '') => createHash('sha256').update(text).digest('hex');
    expect(digest(seen?.body)).toBe(digest(body));
  });

  it.each([
    ['ann:CANARY%2F%3A@', {}, 'ann:CANARY/:'],
    ['ann@', {}, 'ann:'],
    [':CANARY@', {}, ':CANARY'],
    ['ann:100%@', {}, 'ann:100%'],
    ['ann:b@', { Authorization: 'Bearer c' }, undefined],
  ])('has the login of an address as a header: %s', async (login, headers, shown) => {
    const server = await servers.http((_, response) => response.end());
    await post(`http://${login}127.0.0.1:${server.port}/`, patientMs, { headers });
    const basic = `Basic ${Buffer.from(shown ?? '').toString('base64')}`;
    expect(server.requests[0]?.headers.authorization).toBe(shown ? basic : 'Bearer c');
  });

  it('loses no post to a server that closes each connection after its response', async () => {
    const server = await servers.http((request, response) => {
      response.setHeader('connection', 'keep-alive');
      response.end('ok', () => request.socket.destroy());
    });
    const sender = new UndiciSender({ timeoutMs: patientMs, env: {}, nowMs: () => nowMs });
    const request = { url: `http://127.0.0.1:${server.port}/`, headers: {}, body: '{}' };
    for (let i = 0; i < 30; i++) expect(await sender.post(request)).toMatchObject({ status: 200 });
    expect(server.connectionCount()).toBe(30);
  });

  it('holds up no post behind one that hangs', async () => {
    const server = await servers.http((request, response) => {
      if (request.url !== '/hang') response.end();
    });
    const sender = new UndiciSender({ timeoutMs: patientMs, env: {}, nowMs: () => nowMs });
    const to = (path: string) => ({ url: `http://127.0.0.1:${server.port}${path}`, headers: {} });
    const hanging = sender.post({ ...to('/hang'), body: '' });
    expect(await sender.post({ ...to('/'), body: '' })).toMatchObject({ status: 200 });
    await sender.close();
    expect(await hanging).toMatchObject({ error: 'the sender is closed' });
  });
});
