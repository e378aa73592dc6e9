import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { SchemaRegistry } from '../../src/registry/schema-registry.ts';
import { makeAuthority } from '../e2e/kit/certificates.ts';
import { clientOf as openClient } from './registry-client.ts';
import { type Handler, json, type RegistryServer, startRegistry } from './registry-server.ts';

const servers: RegistryServer[] = [];
const registries: SchemaRegistry[] = [];
const folder = mkdtempSync(join(tmpdir(), 'registry-'));

afterAll(() => rmSync(folder, { recursive: true }));
afterEach(async () => {
  for (const registry of registries.splice(0)) registry.close();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function start(handler: Handler, tls?: ServerOptions): Promise<RegistryServer> {
  const server = await (tls === undefined
    ? startRegistry(handler)
    : startRegistry(handler, createTlsServer(tls), 'https'));
  servers.push(server);
  return server;
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function clientOf(...given: Parameters<typeof openClient>) {
  const client = openClient(...given);
  registries.push(client.registry);
  return client;
}

const schema = '{"type":"record","name":"R","fields":[]}';
const found = { type: 'AVRO', text: schema, references: [] };
const good: Handler = (_, response) => json(response, 200, { schema });

/** Fails as `bad` does for so many requests, and responds as it should afterwards. */
function badThenGood(bad: Handler, times = 1): Handler {
  let left = times;
  return (request, response) => (left-- > 0 ? bad(request, response) : good(request, response));
}

describe('SchemaRegistry', () => {
  it('fetches an id once, with one request for all who wait', async () => {
    const server = await start(good);
    const { registry, outcomes, lines } = clientOf(`${server.url}/apis/ccompat/v7`);
    expect(registry.get(7)).toBeUndefined();
    await Promise.all([registry.fetch(7), registry.fetch(7), registry.fetch(7)]);
    expect(registry.get(7)).toEqual(found);
    expect(server.requests).toEqual(['GET /apis/ccompat/v7/schemas/ids/7']);
    expect(outcomes).toEqual(['found']);
    expect(lines).toEqual([]);
  });

  it('fetches what a schema refers to, those that others refer to first', async () => {
    const reference = (name: string, version: number) => ({ name, subject: `s/${name}`, version });
    const server = await start((request, response) => {
      if (request.url === '/schemas/ids/1') {
        const references = [reference('b', 2), reference('a', 1)];
        json(response, 200, { schema: 'main', schemaType: 'PROTOBUF', references });
      } else if (request.url === '/subjects/s%2Fb/versions/2?deleted=true') {
        json(response, 200, { schema: 'text b', references: [reference('a', 1)] });
      } else json(response, 200, { schema: 'text a' });
    });
    const { registry } = clientOf(server.url);
    await registry.fetch(1);
    const references = [
      { name: 'a', text: 'text a' },
      { name: 'b', text: 'text b' },
    ];
    expect(registry.get(1)).toEqual({ type: 'PROTOBUF', text: 'main', references });
    expect(server.requests).toHaveLength(3);
  });

  it('refuses a schema whose references do not end', async () => {
    let count = 0;
    const server = await start((_, response) => {
      const name = `n${count++}`;
      json(response, 200, { schema, references: [{ name, subject: 's', version: 1 }] });
    });
    const { registry } = clientOf(server.url);
    await registry.fetch(1);
    expect(registry.get(1)).toMatchObject({
      missing: 'it must refer to at most 64 schemas: it has more',
    });
  });

  it('knows an id as missing for a minute where the registry says so', async () => {
    const server = await start((_, response) =>
      json(response, 404, { error_code: 40403, message: 'Schema not found' }),
    );
    const { registry, outcomes, pass } = clientOf(server.url, {}, false);
    await registry.fetch(9);
    expect(registry.get(9)).toMatchObject({ missing: 'the registry has none with that id' });
    pass(59_999);
    expect(registry.get(9)).toBeDefined();
    pass(1);
    expect(registry.get(9)).toBeUndefined();
    await registry.fetch(9);
    expect(outcomes).toEqual(['missing', 'missing']);
  });

  it('says which reference is gone', async () => {
    const server = await start((request, response) =>
      request.url === '/schemas/ids/1'
        ? json(response, 200, { schema, references: [{ name: 'n', subject: 's', version: 3 }] })
        : json(response, 404, { error_code: 40402 }),
    );
    const { registry } = clientOf(server.url);
    await registry.fetch(1);
    expect(registry.get(1)).toMatchObject({ missing: 'it refers to "s" version 3, which is gone' });
  });

  it.each<[string, Handler, string]>([
    ['an error', (_, response) => json(response, 500, {}), 'status 500'],
    [
      'a login that is refused',
      (_, response) => json(response, 401, { error_code: 401 }),
      'status 401: see schema_registry.username, password_file and token_file',
    ],
    [
      'a plain 404, as of a wrong path',
      (_, response) => json(response, 404, { error_code: 404, message: 'HTTP 404 Not Found' }),
      'status 404, but not as a registry says it: see schema_registry.url',
    ],
    [
      'a page',
      (_, response) => void response.end('<html>Welcome</html>'),
      'status 200 without a schema: is schema_registry.url the address of a registry?',
    ],
    [
      'JSON of another kind',
      (_, response) => json(response, 200, { schema: 7 }),
      'status 200 without a schema: is schema_registry.url the address of a registry?',
    ],
    ['a connection that closes', (request) => void request.socket.destroy(), 'connection failed'],
    [
      'a response that breaks off',
      (_, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"schema":', () => response.destroy());
      },
      'connection failed: ECONNRESET',
    ],
    [
      'what is not HTTP',
      (request) => void request.socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
      'the response is not HTTP',
    ],
  ])('tries again after %s, with a warning', async (_, bad, failure) => {
    const server = await start(badThenGood(bad, 3));
    const { registry, waits, outcomes, lines } = clientOf(server.url);
    await registry.fetch(1);
    expect(registry.get(1)).toEqual(found);
    expect(waits).toEqual([250, 500, 1_000]);
    expect(outcomes).toEqual(['failed', 'failed', 'failed', 'found']);
    expect(lines[0]).toContain('warn the schema registry does not give a schema; its partitions');
    expect(lines[0]).toContain(failure);
    expect(lines.slice(1)).toEqual(['info the schema registry responds again: ']);
  });

  it('logs each change of the cause once, also where ids fail in two ways, and knows the last one', async () => {
    const page: Handler = (_, response) => void response.end('<html>');
    const refusal: Handler = (_, response) => json(response, 401, {});
    const noPath: Handler = (_, response) => void response.writeHead(404).end('<html>');
    const handlers = [refusal, refusal, noPath, page, page, refusal, good];
    const server = await start((request, response) => handlers.shift()?.(request, response));
    const { registry, lines } = clientOf(server.url);
    const causes = () => lines.map((line) => /status \d+/.exec(line)?.[0] ?? line);
    expect(registry.failure).toBeUndefined();
    await registry.fetch(1);
    const back = 'info the schema registry responds again: ';
    expect(causes()).toEqual(['status 401', 'status 404', 'status 200', 'status 401', back]);
    expect(registry.failure).toBeUndefined();

    let isGood = false;
    const both = await start((request, response) => {
      if (isGood) good(request, response);
      else if (request.url?.endsWith('/1')) refusal(request, response);
      else noPath(request, response);
    });
    const other = clientOf(both.url);
    const fetches = [other.registry.fetch(1), other.registry.fetch(2)];
    await expect.poll(() => other.outcomes.length).toBeGreaterThan(9);
    expect(other.registry.failure).toMatch(/^status 40[14]/);
    isGood = true;
    await Promise.all(fetches);
    const warnings = other.lines.filter((line) => line.startsWith('warn'));
    expect(warnings).toHaveLength(2);
    expect(other.registry.failure).toBeUndefined();
  });

  it('waits at most half a minute between attempts, or as long as it is asked to', async () => {
    let count = 0;
    const server = await start((request, response) => {
      if (count++ < 10) json(response, 503, {});
      else if (count < 12) response.writeHead(429, { 'retry-after': '120' }).end();
      else good(request, response);
    });
    const { registry, waits } = clientOf(server.url);
    await registry.fetch(1);
    expect(waits.slice(6)).toEqual([16_000, 30_000, 30_000, 30_000, 120_000]);
  });

  it('gives up a request that takes too long, and tries again', async () => {
    const server = await start(badThenGood(() => undefined));
    const { registry, lines } = clientOf(server.url, { request_timeout: '100ms' });
    await registry.fetch(1);
    expect(registry.get(1)).toEqual(found);
    expect(lines[0]).toContain('no response within 100 ms');
  });

  it('gives up a body that trickles', async () => {
    const server = await start(
      badThenGood((_, response) => {
        response.writeHead(200);
        const timer = setInterval(() => response.write(' '), 5);
        response.on('close', () => clearInterval(timer));
      }),
    );
    const { registry, lines } = clientOf(server.url, { request_timeout: '200ms' });
    await registry.fetch(1);
    expect(lines[0]).toContain('no response within 200 ms');
  });

  it('cuts off a response of a gigabyte after 1 MiB', async () => {
    let sent = 0;
    const server = await start(
      badThenGood((_, response) => {
        response.writeHead(200, { 'content-length': String(1024 ** 3) });
        const chunk = Buffer.alloc(64 * 1024, 0x20);
        const more = () => {
          while (sent < 1024 ** 3 && !response.destroyed) {
            sent += chunk.length;
            if (!response.write(chunk)) return;
          }
        };
        response.on('drain', more);
        more();
      }),
    );
    const { registry, lines } = clientOf(server.url);
    await registry.fetch(1);
    expect(lines[0]).toContain('its response has more than 1048576 bytes');
    expect(sent).toBeLessThan(64 * 1024 ** 2);
  });

  it('rejects what waits when it is closed', async () => {
    const server = await start(() => undefined);
    const { registry } = clientOf(server.url);
    const waiting = registry.fetch(1);
    registry.close();
    await expect(waiting).rejects.toThrow('the schema registry client is closed');
    await expect(registry.fetch(2)).rejects.toThrow('is closed');
  });

  it('keeps a thousand schemas, those used last', async () => {
    const server = await start(good);
    const { registry } = clientOf(server.url);
    for (let id = 0; id < 1_000; id++) await registry.fetch(id);
    registry.get(0);
    await registry.fetch(1_000);
    expect(registry.get(0)).toBeDefined();
    expect(registry.get(1)).toBeUndefined();
    expect(registry.get(2)).toBeDefined();
  });
});

describe('the login', () => {
  const password = 'pa:ss wörd, long';
  const basic = `Basic ${Buffer.from(`reader:${password}`).toString('base64')}`;

  it('is a user and a password', async () => {
    const server = await start(good);
    const { registry } = clientOf(server.url, { username: 'reader', password });
    await registry.fetch(1);
    expect(server.headers[0]?.authorization).toBe(basic);
  });

  it('is a token, read again for each request', async () => {
    const server = await start(good);
    const token_file = file('token', 'first-token\n');
    const { registry } = clientOf(server.url, { token_file });
    await registry.fetch(1);
    file('token', 'second-token');
    await registry.fetch(2);
    const sent = server.headers.map(({ authorization }) => authorization);
    expect(sent).toEqual(['Bearer first-token', 'Bearer second-token']);
  });

  it('of a broken token file is waited for', async () => {
    const server = await start(good);
    const token_file = file('broken', 'a\r\nx-evil: 1');
    const { registry, lines } = clientOf(server.url, { token_file });
    const waiting = registry.fetch(1);
    await expect.poll(() => lines.length).toBe(1);
    expect(lines[0]).toContain('token_file must contain one token');
    expect(server.requests).toEqual([]);
    file('broken', 'one-token');
    await waiting;
    expect(server.headers[0]?.authorization).toBe('Bearer one-token');
  });

  it('follows redirects within its origin', async () => {
    const server = await start((request, response) =>
      request.url === '/schemas/ids/1'
        ? void response.writeHead(307, { location: '/moved/1' }).end()
        : good(request, response),
    );
    const { registry } = clientOf(server.url, { username: 'reader', password });
    await registry.fetch(1);
    expect(server.requests).toEqual(['GET /schemas/ids/1', 'GET /moved/1']);
    expect(server.headers[1]?.authorization).toBe(basic);
  });

  it('goes to no other origin', async () => {
    const other = await start(good);
    const location = `${other.url}/schemas/ids/1`;
    const server = await start(
      badThenGood((_, response) => void response.writeHead(302, { location }).end()),
    );
    const { registry, lines } = clientOf(server.url, { username: 'reader', password });
    await registry.fetch(1);
    expect(other.requests).toEqual([]);
    expect(lines[0]).toContain('it redirects to another origin, which is not followed');
  });

  it('is not sent round in circles', async () => {
    const server = await start(
      badThenGood((_, response) => void response.writeHead(302, { location: '/x' }).end(), 4),
    );
    const { registry, lines } = clientOf(server.url);
    await registry.fetch(1);
    expect(lines[0]).toContain('it redirects more than 3 times');
  });
});

describe('TLS', () => {
  const authority = makeAuthority('registry-ca');
  const own = authority.issue('registry');
  const options = { cert: own.certPem, key: own.keyPem };
  const ca_file = file('ca.pem', authority.certPem);

  it('trusts the given authority', async () => {
    const server = await start(good, options);
    const { registry } = clientOf(server.url, { ca_file });
    await registry.fetch(1);
    expect(registry.get(1)).toEqual(found);
  });

  it('waits where the authority is unknown', async () => {
    const server = await start(good, options);
    const { registry, lines } = clientOf(server.url);
    const waiting = registry.fetch(1);
    await expect.poll(() => lines.length).toBe(1);
    expect(lines[0]).toContain('not signed by an authority that we trust');
    expect(server.requests).toEqual([]);
    registry.close();
    await expect(waiting).rejects.toThrow('is closed');
  });

  it('presents a client certificate', async () => {
    const client = authority.issue('tailmark');
    const server = await start(good, {
      ...options,
      ca: authority.certPem,
      requestCert: true,
      rejectUnauthorized: true,
    });
    const { registry } = clientOf(server.url, {
      ca_file,
      cert_file: file('cert.pem', client.certPem),
      key_file: file('key.pem', client.keyPem),
    });
    await registry.fetch(1);
    expect(registry.get(1)).toEqual(found);
  });

  it('refuses what is not PEM, before anything is read', () => {
    const bad = file('bad.pem', '-----BEGIN CERTIFICATE-----\nnonsense\n');
    expect(() => clientOf('https://127.0.0.1:1', { cert_file: bad, key_file: bad })).toThrow(
      'Cannot use schema_registry: ca_file, cert_file and key_file must be PEM',
    );
  });
});
