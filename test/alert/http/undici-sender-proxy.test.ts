import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/alert/http/proxies.ts';
import { UndiciSender } from '../../../src/alert/http/undici-sender.ts';
import { makeAuthority } from '../../e2e/kit/certificates.ts';
import { leaksIn } from '../../e2e/kit/leaks-in.ts';
import { type TestServer, TestServers } from './test-servers.ts';

const servers = new TestServers();
afterEach(async () => {
  vi.unstubAllEnvs();
  await servers.closeAll();
});

const ours = makeAuthority('our authority');
const certificate = ours.issue('receiver', { names: ['receiver.test'] });
const request = { headers: { 'x-id': '7' }, body: '{"a":1}' };

function senderWith(env: Env, timeoutMs = 20_000): UndiciSender {
  // Nothing but localhost is to be resolved by the sender itself.
  const resolve = async (name: string) =>
    name === 'localhost' ? [{ address: '127.0.0.1', family: 4 }] : [];
  return new UndiciSender({ timeoutMs, env, nowMs: () => 0, ca: ours.certPem, resolve });
}

interface Proxy extends TestServer {
  /** Targets of CONNECT. */
  readonly tunnels: readonly string[];
}

/** A proxy that resolves every name to 127.0.0.1. */
async function openProxy(): Promise<Proxy> {
  const tunnels: string[] = [];
  const proxy = await servers.http(
    (from, response, body) => {
      const url = new URL(from.url ?? '');
      const { port } = url;
      const options = {
        host: '127.0.0.1',
        port,
        path: url.pathname,
        method: from.method ?? 'POST',
      };
      httpRequest({ ...options, headers: from.headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 0);
        answer.pipe(response);
      }).end(body);
    },
    {
      onConnect: ({ url = '' }, socket: Socket, head) => {
        tunnels.push(url);
        const onward = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
          socket.write('HTTP/1.1 200 Connected\r\n\r\n');
          onward.write(head);
          onward.pipe(socket).pipe(onward);
        });
        onward.on('error', () => socket.destroy());
        socket.on('close', () => onward.destroy());
      },
    },
  );
  return { ...proxy, tunnels };
}

const url = 'be an http or https URL';
const place = 'not lead to a link-local or cloud metadata address';

describe('a proxy', () => {
  it.each([
    [{ HTTP_PROXY: 'socks5://ann:CANARY@proxy:1080' }, 'HTTP_PROXY', url, 'begins with socks5:'],
    [{ https_proxy: 'http://ann:CANARY%@proxy' }, 'HTTPS_PROXY', url, 'its login has a "%"'],
    [{ HTTPS_PROXY: 'http://[CANARY' }, 'HTTPS_PROXY', url, 'it cannot be read as one'],
    [{ HTTP_PROXY: 'http://0xa9fea9fe:3128' }, 'HTTP_PROXY', place, '169.254.169.254 is link'],
    [{ http_proxy: '[::ffff:a9fe:a9fe]' }, 'HTTP_PROXY', place, '::ffff:a9fe:a9fe is link-local'],
  ])('of %j is refused at the start', (env, name, rule, problem) => {
    const start = `Cannot send to receivers as ${name} must ${rule}: `;
    expect(() => senderWith(env)).toThrow(start);
    expect(() => senderWith(env)).toThrow(problem);
    try {
      senderWith(env);
    } catch (error) {
      expect(leaksIn(String(error))).toEqual([]);
    }
  });

  it('is not asked for a receiver at a link-local or metadata address', async () => {
    const proxy = await openProxy();
    const sender = senderWith({
      HTTP_PROXY: `http://127.0.0.1:${proxy.port}`,
      HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
    });
    for (const host of ['0xa9fea9fe', '[fd00:ec2::254]', '169.254.1.1..', 'metadata.goog']) {
      for (const scheme of ['http', 'https']) {
        const result = await sender.post({ url: `${scheme}://${host}/`, ...request });
        expect(result).toEqual({ error: expect.stringMatching(/: refused$/) });
      }
    }
    expect(proxy.connectionCount()).toBe(0);
  });

  it.each(['http', 'https'])(
    'that resolves to a link-local address is refused: %s',
    async (scheme) => {
      const resolve = async () => [{ address: '169.254.169.254', family: 4 }];
      const env = { HTTP_PROXY: 'http://proxy.test:3128', HTTPS_PROXY: 'http://proxy.test:3128' };
      const sender = new UndiciSender({ timeoutMs: 20_000, env, nowMs: () => 0, resolve });
      expect(await sender.post({ url: `${scheme}://receiver.test/CANARY`, ...request })).toEqual({
        error: 'proxy.test: address 169.254.169.254 is link-local: refused',
      });
    },
  );

  it('that does not answer is waited for until the time-out', async () => {
    const proxy = await servers.raw((socket) => socket.resume());
    const address = `http://127.0.0.1:${proxy.port}`;
    const sender = senderWith({ HTTP_PROXY: address, HTTPS_PROXY: address }, 50);
    for (const scheme of ['http', 'https']) {
      const result = await sender.post({ url: `${scheme}://receiver.test/CANARY`, ...request });
      expect(result).toEqual({ error: 'no response within 50 ms', wasSent: true });
      await proxy.idle();
    }
  });

  it.each([403, 407, 502])('that refuses a tunnel is named: %d', async (status) => {
    const proxy = await servers.http(() => undefined, {
      onConnect: (_, socket) => void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`),
    });
    const sender = senderWith({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` });
    expect(await sender.post({ url: 'https://receiver.test/CANARY', ...request })).toEqual({
      error: `the proxy refuses to connect: status ${status}`,
    });
  });

  it.each([
    [407, { error: 'the proxy refuses to connect: status 407' }],
    [502, { status: 502, text: 'no' }],
  ])('that refuses a plain request with %d is named', async (status, expected) => {
    const proxy = await servers.http((_, response) => response.writeHead(status).end('no'));
    const sender = senderWith({ HTTP_PROXY: `http://127.0.0.1:${proxy.port}` });
    const result = await sender.post({ url: 'http://receiver.test/CANARY', ...request });
    expect(result).toMatchObject(expected);
  });

  it.each(['HTTP_PROXY', 'http_proxy'])('of %s gets http as a plain request', async (name) => {
    const proxy = await openProxy();
    const receiver = await servers.http((_, response) => response.writeHead(202).end('ok'));
    const sender = senderWith({ [name]: `ann:b%2Fc@127.0.0.1:${proxy.port}` });
    const url = `http://receiver.test:${receiver.port}/path`;
    expect(await sender.post({ url, ...request })).toMatchObject({ status: 202, text: 'ok' });
    expect(proxy.tunnels).toEqual([]);
    expect(proxy.requests[0]).toMatchObject({ method: 'POST', url });
    expect(proxy.requests[0]?.headers).toMatchObject({
      host: `receiver.test:${receiver.port}`,
      'x-id': '7',
      'proxy-authorization': `Basic ${Buffer.from('ann:b/c').toString('base64')}`,
    });
    expect(receiver.requests).toHaveLength(1);
  });

  it('of HTTPS_PROXY tunnels https, and the receiver has to prove its name', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const proxy = await openProxy();
    const receiver = await servers.http((_, response) => response.end('ok'), { certificate });
    const sender = senderWith({ HTTPS_PROXY: `http://localhost:${proxy.port}` });
    const to = (host: string) =>
      sender.post({ url: `https://${host}:${receiver.port}/path`, ...request });
    expect(await to('other.test')).toEqual({
      error: "TLS: the server's certificate is for another name than the one we connect to",
    });
    expect(await to('receiver.test')).toMatchObject({ status: 200, text: 'ok' });
    expect(proxy.tunnels).toEqual([
      `other.test:${receiver.port}`,
      `receiver.test:${receiver.port}`,
    ]);
    expect(proxy.requests).toEqual([]);
    expect(receiver.requests).toHaveLength(1);
    expect(receiver.requests[0]).toMatchObject({ url: '/path', body: '{"a":1}' });
  });

  it.each(['http', 'https'])('over TLS has to be trusted by Node itself: %s', async (scheme) => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const local = ours.issue('proxy', { names: ['localhost'] });
    const proxy = await servers.http((_, response) => response.end(), { certificate: local });
    const address = `https://localhost:${proxy.port}`;
    const sender = senderWith({ HTTP_PROXY: address, HTTPS_PROXY: address });
    expect(await sender.post({ url: `${scheme}://receiver.test/CANARY`, ...request })).toEqual({
      error: "TLS: the server's certificate is not signed by an authority that we trust",
    });
    expect(proxy.requests).toEqual([]);
  });

  it('is for its scheme only', async () => {
    const proxy = await openProxy();
    const address = `http://127.0.0.1:${proxy.port}`;
    const local = ours.issue('receiver', { names: ['localhost'] });
    const plain = await servers.http((_, response) => response.end());
    const secure = await servers.http((_, response) => response.end(), { certificate: local });
    const overHttps = { url: `https://localhost:${secure.port}/`, ...request };
    const overHttp = { url: `http://localhost:${plain.port}/`, ...request };
    expect(await senderWith({ HTTP_PROXY: address }).post(overHttps)).toMatchObject({
      status: 200,
    });
    expect(await senderWith({ HTTPS_PROXY: address }).post(overHttp)).toMatchObject({
      status: 200,
    });
    expect(proxy.connectionCount()).toBe(0);
  });

  it.each([
    ['localhost', false],
    ['*', false],
    ['.internal, localhost', false],
    ['other.test', true],
    ['', true],
    [undefined, true],
  ])('is not used for hosts of NO_PROXY: %j', async (noProxy, isUsed) => {
    // The environment of the process counts for nothing.
    vi.stubEnv('NO_PROXY', '*');
    const proxy = await openProxy();
    const receiver = await servers.http((_, response) => response.end());
    const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: noProxy };
    const url = `http://localhost:${receiver.port}/`;
    expect(await senderWith(env).post({ url, ...request })).toMatchObject({ status: 200 });
    expect(proxy.requests).toHaveLength(isUsed ? 1 : 0);
    expect(receiver.requests).toHaveLength(1);
  });

  it('of the process is not used', async () => {
    vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:1');
    const receiver = await servers.http((_, response) => response.end());
    const url = `http://localhost:${receiver.port}/`;
    expect(await senderWith({}).post({ url, ...request })).toMatchObject({ status: 200 });
  });

  it('leaves hosts of NO_PROXY to the check of addresses', async () => {
    const env = { HTTP_PROXY: 'http://127.0.0.1:1', NO_PROXY: 'hooks.test' };
    const resolve = async () => [{ address: '169.254.169.254', family: 4 }];
    const sender = new UndiciSender({ timeoutMs: 20_000, env, nowMs: () => 0, resolve });
    expect(await sender.post({ url: 'http://hooks.test/', ...request })).toEqual({
      error: 'hooks.test: address 169.254.169.254 is link-local: refused',
    });
  });
});
