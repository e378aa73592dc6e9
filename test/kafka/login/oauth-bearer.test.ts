import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { knownSecrets } from '../../../src/base/telemetry/known-secrets.ts';
import { oauthBearer } from '../../../src/kafka/login/oauth-bearer.ts';

let path: string;
let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tailmark-token-'));
  path = join(dir, 'token');
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

type Args = Parameters<ReturnType<typeof oauthBearer>>[0];

/** Logs in at a broker that answers so; gives what it was sent. */
async function login(answer = ''): Promise<string> {
  let sent = '';
  const saslAuthenticate = async ({
    request,
    response,
  }: Parameters<Args['saslAuthenticate']>[0]) => {
    const bytes = await request.encode();
    expect(bytes.readInt32BE(0)).toBe(bytes.length - 4);
    sent = bytes.subarray(4).toString();
    const framed = Buffer.concat([Buffer.from([0, 0, 0, answer.length]), Buffer.from(answer)]);
    return response?.parse(await response.decode(framed));
  };
  await oauthBearer(path)({ saslAuthenticate } as unknown as Args).authenticate();
  return sent;
}

describe('oauthBearer', () => {
  it('sends the token that stands in the file at that moment, and has it hidden', async () => {
    writeFileSync(path, 'first.token\n');
    expect(await login()).toBe('n,,\u0001auth=Bearer first.token\u0001\u0001');
    writeFileSync(path, 'second.token');
    expect(await login()).toBe('n,,\u0001auth=Bearer second.token\u0001\u0001');
    expect(knownSecrets.hide('first.token second.token')).toBe('*** ***');
  });

  it.each([
    ['{"status":"invalid_token","scope":"x"}', 'invalid_token'],
    ['{"status":"a \\u0001 b"}', 'the token was rejected'],
    ['anything', 'the token was rejected'],
  ])('takes the answer %s for a refusal', async (answer, says) => {
    writeFileSync(path, 'first.token');
    await expect(login(answer)).rejects.toThrow(`SASL OAUTHBEARER authentication failed: ${says}`);
  });

  it.each([
    ['', 'it is empty'],
    ['one two', 'it contains more than one token'],
    ['one\u0001auth=Bearer two', 'it contains more than one token'],
  ])('refuses the file %j', async (content, says) => {
    writeFileSync(path, content);
    await expect(login()).rejects.toThrow(`${path} (${says})`);
  });

  it('says so if there is no file, and has no cause that would be shown instead', async () => {
    rmSync(path);
    const error = await login().catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: 'TAILMARK_KAFKA_AUTH', exitCode: 78 });
    expect(String(error)).toContain('ENOENT');
    expect((error as Error).cause).toBeUndefined();
  });
});
