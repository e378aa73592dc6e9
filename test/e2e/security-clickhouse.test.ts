import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import {
  createServer as createHttp,
  request as httpRequest,
  type IncomingHttpHeaders,
} from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TlsOptions } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../cli/captured-io.ts';
import { useStack } from '../containers/stack.ts';
import { type Authority, makeAuthority } from './kit/certificates.ts';
import type { Rig } from './kit/rig.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const authority: Authority = makeAuthority('authority of ClickHouse');
const another = makeAuthority('another authority');

/** Speaks HTTP like ClickHouse, by forwarding everything to it. */
interface Front {
  readonly url: string;
  /** Headers of the last request. */
  headers(): IncomingHttpHeaders;
  close(): void;
}

let dir: string;
const fronts: Front[] = [];

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tailmark-tls-'));
});
afterAll(() => {
  for (const front of fronts) front.close();
  rmSync(dir, { recursive: true, force: true });
});

function file(name: string, content: string): string {
  const path = join(dir, name);
  writeFileSync(path, content);
  return path;
}

/** TLS before the real ClickHouse, or none. */
async function front(options: TlsOptions | undefined): Promise<Front> {
  let last: IncomingHttpHeaders = {};
  const serve: Parameters<typeof createHttp>[1] = (incoming, outgoing) => {
    last = incoming.headers;
    const { method, url, headers } = incoming;
    // Headers of the connection before it are dropped; the server itself has no TLS.
    const { 'x-clickhouse-ssl-certificate-auth': _, ...own } = headers;
    const onward = httpRequest(
      new URL(url ?? '/', stack.clickhouseUrl),
      { method: method ?? 'GET', headers: own },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      },
    );
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  };
  const server = options === undefined ? createHttp(serve) : createHttps(options, serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const made = {
    url: `${options === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    headers: () => last,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  fronts.push(made);
  return made;
}

const served = ({ certPem, keyPem } = authority.issue('clickhouse')): TlsOptions => ({
  cert: certPem,
  key: keyPem,
});
const trusted = () => file('ca.pem', authority.certPem);
const wantsClient = (): TlsOptions => ({
  ...served(),
  ca: authority.certPem,
  requestCert: true,
  rejectUnauthorized: true,
});
function ownCertificate(issuer: Authority = authority) {
  const { certPem, keyPem } = issuer.issue('tailmark');
  return {
    TAILMARK_CLICKHOUSE_CERT_FILE: file('client.pem', certPem),
    TAILMARK_CLICKHOUSE_KEY_FILE: file('client-key.pem', keyPem),
  };
}

function through(rig: Rig, url: string, more: Readonly<Record<string, string>> = {}) {
  return { ...rig.env, TAILMARK_CLICKHOUSE_URL: url, ...more };
}

describe('ClickHouse over TLS', () => {
  it('is migrated, read and verified with the authority in ca_file', async () => {
    await withRig({ stack, name: 'tls' }, async (rig) => {
      const { url } = await front(served());
      const env = through(rig, url, { TAILMARK_CLICKHOUSE_CA_FILE: trusted() });
      for (const argv of [['migrate'], ['check', '--connect'], ['tails'], ['verify']]) {
        const { exitCode, err } = await run([...argv, '--json'], { env });
        // Nothing is stored here, which `verify` says by its exit code.
        const expected = argv[0] === 'verify' ? 1 : 0;
        expect([argv, exitCode, err]).toEqual([argv, expected, '']);
      }
    });
  });

  it('gets the client certificate: as the login without a password, beside the login with one', async () => {
    await withRig({ stack, name: 'mtls' }, async (rig) => {
      const { url, headers } = await front(wantsClient());
      const env = through(rig, url, {
        TAILMARK_CLICKHOUSE_CA_FILE: trusted(),
        ...ownCertificate(),
      });
      expect(await run(['tails', '--json'], { env })).toMatchObject({ exitCode: 0, err: '' });
      expect(headers()['x-clickhouse-ssl-certificate-auth']).toBe('on');
      // The default user has no password, so the server refuses this one after the handshake.
      const withPassword = { ...env, TAILMARK_CLICKHOUSE_PASSWORD: 'canary-password' };
      const refused = await run(['tails', '--json'], { env: withPassword });
      expect(JSON.parse(refused.err).error.code).toBe('TAILMARK_CLICKHOUSE_AUTH');
      expect(headers()['x-clickhouse-ssl-certificate-auth']).toBeUndefined();
      expect(headers().authorization).toMatch(/^Basic /);
    });
  });
});

interface Refusal {
  readonly name: string;
  readonly server: () => TlsOptions | undefined;
  /** Settings of the client, without the address. */
  readonly env: () => Readonly<Record<string, string>>;
  /** Scheme of the client's address. @default that of the server */
  readonly scheme?: string;
  readonly code: string;
  readonly says: string;
  /** @default {'clickhouse.'} */
  readonly hint?: string;
}

const tls = 'TAILMARK_CLICKHOUSE_TLS';
const withCa = () => ({ TAILMARK_CLICKHOUSE_CA_FILE: trusted() });
const refusals: readonly Refusal[] = [
  {
    name: 'a wrong password',
    server: () => served(),
    env: () => ({ ...withCa(), TAILMARK_CLICKHOUSE_PASSWORD: 'canary-wrong' }),
    code: 'TAILMARK_CLICKHOUSE_AUTH',
    says: 'clickhouse.username',
  },
  {
    name: 'another authority',
    server: () => served(),
    env: () => ({ TAILMARK_CLICKHOUSE_CA_FILE: file('other.pem', another.certPem) }),
    code: tls,
    says: 'not signed by an authority that we trust',
  },
  {
    name: "the system's authorities",
    server: () => served(),
    env: () => ({}),
    code: tls,
    says: 'not signed by an authority that we trust',
  },
  {
    name: 'a certificate for another name',
    server: () => served(authority.issue('clickhouse', { names: ['clickhouse.example'] })),
    env: withCa,
    code: tls,
    says: 'for another name',
  },
  {
    name: 'a certificate that has expired',
    server: () =>
      served(authority.issue('clickhouse', { notAfter: new Date(Date.now() - 86_400_000) })),
    env: withCa,
    code: tls,
    says: 'has expired',
  },
  {
    name: 'no client certificate where one is wanted',
    server: wantsClient,
    env: withCa,
    code: tls,
    says: 'wants a client certificate',
  },
  {
    name: 'a client certificate of another authority',
    server: wantsClient,
    env: () => ({ ...withCa(), ...ownCertificate(another) }),
    // Node, which speaks TLS here, hangs up without the alert that others send.
    code: 'TAILMARK_CLICKHOUSE_UNREACHABLE',
    says: 'ECONNRESET',
    hint: 'clickhouse.cert_file',
  },
  {
    name: 'https to a server without TLS',
    server: () => undefined,
    scheme: 'https',
    env: withCa,
    code: tls,
    says: 'does not speak TLS',
  },
  {
    name: 'http to a server with TLS',
    server: () => served(),
    scheme: 'http',
    env: () => ({}),
    code: 'TAILMARK_CLICKHOUSE_UNREACHABLE',
    says: 'ECONNRESET',
    hint: 'begins with https',
  },
];

describe('ClickHouse that refuses', () => {
  it.each(refusals)('$name is reported in time, without a secret', async (refusal) => {
    const { url } = await front(refusal.server());
    const address = new URL(url);
    const env = {
      TAILMARK_CLICKHOUSE_URL: `${refusal.scheme ?? address.protocol.slice(0, -1)}://${address.host}`,
      ...refusal.env(),
    };
    for (const command of ['migrate', 'tails', 'verify']) {
      const startMs = performance.now();
      const { exitCode, out, err } = await run([command, '--json', '--log-level', 'trace'], {
        env,
      });
      expect(performance.now() - startMs).toBeLessThan(20_000);
      expect([command, out]).toEqual([command, '']);
      const { error } = JSON.parse(err) as { error: Record<string, string> };
      expect(error.code).toBe(refusal.code);
      expect(error.hint).toContain(refusal.hint ?? 'clickhouse.');
      expect(error.message).toContain(refusal.says);
      expect(exitCode).toBe(refusal.code.endsWith('UNREACHABLE') ? 69 : 78);
      expect(err).not.toContain('canary');
    }
  });
});
