import { afterEach, describe, expect, it, vi } from 'vitest';
import { UndiciSender } from '../../../src/alert/http/undici-sender.ts';
import { makeAuthority } from '../../e2e/kit/certificates.ts';
import { TestServers } from './test-servers.ts';

const servers = new TestServers();
afterEach(async () => {
  vi.unstubAllEnvs();
  await servers.closeAll();
});

const ours = makeAuthority('our authority');
const other = makeAuthority('another authority');
const named = ours.issue('receiver', { names: ['receiver.test'] });

function senderWith(ca?: string): UndiciSender {
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  return new UndiciSender({ timeoutMs: 20_000, env: {}, nowMs: () => 0, ca, resolve });
}

describe('UndiciSender, over TLS', () => {
  it.each(['', 'not PEM', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'])(
    'has no authority of %j',
    (ca) => {
      expect(() => senderWith(ca)).toThrow(
        'Cannot send to a receiver as ca_file must hold a certificate in PEM',
      );
    },
  );

  const untrusted = "TLS: the server's certificate is not signed by an authority that we trust";
  const ofOtherName =
    "TLS: the server's certificate is for another name than the one we connect to";
  const expired = ours.issue('receiver', { notAfter: new Date(Date.now() - 60_000) });
  it.each([
    ['of an authority that Node does not know', ours.issue('receiver'), undefined, untrusted],
    ['of another authority', other.issue('receiver'), ours.certPem, untrusted],
    ['that signed itself', other, ours.certPem, untrusted],
    ['of another name', named, ours.certPem, ofOtherName],
    ['that has expired', expired, ours.certPem, "TLS: the server's certificate has expired"],
  ])('refuses a certificate %s', async (_, certificate, ca, error) => {
    // Verification is not to be turned off for the whole process.
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const server = await servers.http((_request, response) => response.end(), { certificate });
    const url = `https://127.0.0.1:${server.port}/CANARY`;
    expect(await senderWith(ca).post({ url, headers: {}, body: '' })).toEqual({ error });
    expect(server.requests).toEqual([]);
  });

  it('names a server that does not speak TLS', async () => {
    const server = await servers.http((_, response) => response.end());
    const url = `https://127.0.0.1:${server.port}/CANARY`;
    expect(await senderWith().post({ url, headers: {}, body: '' })).toEqual({
      error: 'TLS: the server does not speak TLS at this port',
    });
  });

  it('trusts a server of the authority, by address and by name', async () => {
    for (const [host, certificate] of [
      ['127.0.0.1', ours.issue('receiver')],
      ['receiver.test', named],
    ] as const) {
      const server = await servers.http((_, response) => response.end('ok'), { certificate });
      const url = `https://${host}:${server.port}/`;
      const result = await senderWith(ours.certPem).post({ url, headers: {}, body: '' });
      expect(result).toMatchObject({ status: 200, text: 'ok' });
    }
  });

  it('trusts each authority of a file', async () => {
    const server = await servers.http((_, response) => response.end('ok'), {
      certificate: ours.issue('receiver'),
    });
    const sender = senderWith(`${other.certPem}${ours.certPem}`);
    const url = `https://127.0.0.1:${server.port}/`;
    expect(await sender.post({ url, headers: {}, body: '' })).toMatchObject({ status: 200 });
  });
});
