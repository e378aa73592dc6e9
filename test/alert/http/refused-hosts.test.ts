import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Resolve } from '../../../src/alert/http/guarded-lookup.ts';
import type { HttpResult } from '../../../src/alert/http/http-sender.ts';
import { UndiciSender } from '../../../src/alert/http/undici-sender.ts';
import { literals } from './refused-literals.ts';
import { attemptsDuring, TestServers } from './test-servers.ts';

const servers = new TestServers();
afterEach(() => servers.closeAll());

/** Resolves every name to these addresses, first to the first list, last to the last from then on. */
function resolverOf(...lists: readonly (readonly string[])[]): Resolve {
  let calls = 0;
  return async () => {
    const list = lists[Math.min(calls++, lists.length - 1)] ?? [];
    return list.map((address): LookupAddress => ({ address, family: isIP(address) }));
  };
}

function senderWith(resolve: Resolve): UndiciSender {
  return new UndiciSender({ timeoutMs: 10_000, env: {}, nowMs: () => 0, resolve });
}

const body = { headers: {}, body: '{}' };
const refused = /^(\S+: )?address \S+ is (link-local|a cloud metadata service): refused$/;

const badAddresses = [
  '169.254.169.254',
  '169.254.0.1',
  'fe80::1',
  'fe80::1%lo',
  'fd00:ec2::254',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '::169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::a9fe:a9fe',
  '2002:a9fe:a9fe::1',
  '2001:0:4136:e378:8000:63bf:5601:5601',
];

describe('a literal address', () => {
  it('is listed in at least 60 spellings', () => {
    expect(new Set(literals).size).toBeGreaterThanOrEqual(60);
  });

  it.each(literals)('%s is refused before a socket is made', async (host) => {
    const sender = senderWith(resolverOf(['127.0.0.1']));
    let result: HttpResult | undefined;
    const attempts = await attemptsDuring(async () => {
      result = await sender.post({ url: `http://${host}/CANARY`, ...body });
    });
    expect(result).toEqual({ error: expect.stringMatching(refused) });
    expect(attempts).toEqual([]);
  });

  it.each(['[fe80::1%25eth0]', '[fe80::1%eth0]', '169.254.169.254%2F', '425.510.425.510', ''])(
    '%s is no URL',
    async (host) => {
      const attempts = await attemptsDuring(async () => {
        const result = await senderWith(resolverOf([])).post({ url: `http://${host}/`, ...body });
        expect(result).toEqual({ error: 'the address is not a URL' });
      });
      expect(attempts).toEqual([]);
    },
  );

  it.each(['file:///etc/passwd', 'ftp://169.254.169.254/', 'data:,x', 'ws://127.0.0.1/'])(
    '%s is no address of HTTP',
    async (url) => {
      const result = await senderWith(resolverOf(['127.0.0.1'])).post({ url, ...body });
      expect(result).toEqual({ error: 'the address must begin with http:// or https://' });
    },
  );
});

describe('a name', () => {
  it.each(badAddresses)('of %s is refused, even among good addresses', async (bad) => {
    const server = await servers.http((_, response) => response.end());
    const url = `http://hooks.test:${server.port}/CANARY`;
    for (const list of [[bad], [bad, '127.0.0.1'], ['127.0.0.1', bad], ['::1', '127.0.0.1', bad]]) {
      const attempts = await attemptsDuring(async () => {
        const result = await senderWith(resolverOf(list)).post({ url, ...body });
        expect(result).toEqual({ error: expect.stringMatching(refused) });
        expect('error' in result && result.error.startsWith('hooks.test: address ')).toBe(true);
      });
      expect(attempts).toEqual([]);
    }
    expect(server.connectionCount()).toBe(0);
  });

  it('is refused over TLS too', async () => {
    const server = await servers.raw(() => undefined);
    const sender = senderWith(resolverOf(['127.0.0.1', '169.254.169.254']));
    const result = await sender.post({ url: `https://hooks.test:${server.port}/`, ...body });
    expect(result).toEqual({
      error: 'hooks.test: address 169.254.169.254 is link-local: refused',
    });
    expect(server.connectionCount()).toBe(0);
  });

  it.each(['metadata.google.internal', 'metadata.google.internal.', 'METADATA.goog'])(
    'of a metadata service is refused whatever it resolves to: %s',
    async (name) => {
      const server = await servers.http((_, response) => response.end());
      const sender = senderWith(resolverOf(['127.0.0.1']));
      const result = await sender.post({ url: `http://${name}:${server.port}/`, ...body });
      expect(result).toEqual({ error: expect.stringContaining('is a cloud metadata service') });
      expect(server.connectionCount()).toBe(0);
    },
  );

  it('that resolves to another address after the check is connected to at the checked one', async () => {
    const server = await servers.http((_, response) => response.end());
    const sender = senderWith(resolverOf(['127.0.0.1'], ['169.254.169.254']));
    const url = `http://rebind.test:${server.port}/`;
    const first = await attemptsDuring(async () => {
      expect(await sender.post({ url, ...body })).toMatchObject({ status: 200 });
    });
    expect(first).toEqual(['127.0.0.1']);
    const second = await attemptsDuring(async () => {
      expect(await sender.post({ url, ...body })).toEqual({
        error: 'rebind.test: address 169.254.169.254 is link-local: refused',
      });
    });
    expect(second).toEqual([]);
    expect(server.connectionCount()).toBe(1);
  });

  it('that has no address, or cannot be resolved, is no connection', async () => {
    const failing = senderWith(() =>
      Promise.reject(Object.assign(new Error('getaddrinfo CANARY'), { code: 'ENOTFOUND' })),
    );
    for (const sender of [senderWith(resolverOf([])), failing]) {
      const result = await sender.post({ url: 'http://hooks.test/', ...body });
      expect(result).toEqual({ error: 'connection failed: ENOTFOUND' });
    }
  });
});

describe('a private receiver', () => {
  const hosts = [
    ...['127.0.0.1', '127.0.0.2', '127.1.2.3', '127.254.169.254', '127.255.255.254'],
    ...['127.1', '2130706433', '0x7f000001', '0177.0.0.1', '[::ffff:127.0.0.1]', '0.0.0.0'],
  ];
  const names = [
    ...['127.0.0.1', '127.0.0.2', '127.1.2.3', '127.169.254.1', '127.255.255.254'],
    ...['::ffff:127.0.0.1', '0.0.0.0', '127.100.100.200', '127.63.129.16'],
  ];

  it('is listed 20 times', () => {
    expect(hosts.length + names.length).toBeGreaterThanOrEqual(20);
  });

  it.each(hosts)('at %s works', async (host) => {
    const server = await servers.http((_, response) => response.end('ok'), { host: '0.0.0.0' });
    const sender = senderWith(resolverOf([]));
    const result = await sender.post({ url: `http://${host}:${server.port}/api`, ...body });
    expect(result).toMatchObject({ status: 200, text: 'ok' });
  });

  it.each(names)('whose name resolves to %s works', async (address) => {
    const server = await servers.http((_, response) => response.end('ok'), { host: '0.0.0.0' });
    const sender = senderWith(resolverOf([address]));
    const url = `http://alertmanager.test:${server.port}/api`;
    expect(await sender.post({ url, ...body })).toMatchObject({ status: 200, text: 'ok' });
    expect(server.requests[0]?.headers.host).toBe(`alertmanager.test:${server.port}`);
  });

  it('at [::1] works, as a literal and by name', async () => {
    const server = await servers.http((_, response) => response.end('ok'), { host: '::1' });
    const literal = { url: `http://[::1]:${server.port}/`, ...body };
    const named = { url: `http://alertmanager.test:${server.port}/`, ...body };
    expect(await senderWith(resolverOf([])).post(literal)).toMatchObject({ status: 200 });
    expect(await senderWith(resolverOf(['::1'])).post(named)).toMatchObject({ status: 200 });
  });

  it('is connected to at its next address where the first does not answer', async () => {
    const server = await servers.http((_, response) => response.end('ok'));
    const sender = senderWith(resolverOf(['::1', '127.0.0.1']));
    const url = `http://alertmanager.test:${server.port}/`;
    expect(await sender.post({ url, ...body })).toMatchObject({ status: 200 });
  });
});
