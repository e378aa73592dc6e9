import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import kafkajs from 'kafkajs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mayBeAcceptedSoon } from '../../../src/kafka/login/may-be-accepted-soon.ts';
import { oauthBearer } from '../../../src/kafka/login/oauth-bearer.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tailmark-token-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Errors have messages that the types of kafkajs omit. */
function refusal(message: string): Error {
  return Reflect.construct(kafkajs.KafkaJSSASLAuthenticationError, [message]);
}

function typed(type: string): Error {
  return new kafkajs.KafkaJSProtocolError(Object.assign(new Error(type), { type, code: 1 }));
}

it.each([
  ['a password', refusal('SASL PLAIN authentication failed: Invalid username or password'), true],
  ['a user', refusal('SASL SCRAM SHA512 authentication failed: invalid credentials'), true],
  [
    'a connection that the broker closes',
    refusal('SASL PLAIN authentication failed: Closed'),
    true,
  ],
  ['a login, by its code', typed('SASL_AUTHENTICATION_FAILED'), true],
  ['a mechanism', typed('UNSUPPORTED_SASL_MECHANISM'), false],
  [
    'a mechanism, as kafkajs says',
    refusal('SASL X mechanism is not supported by the server'),
    false,
  ],
  ['any login', typed('ILLEGAL_SASL_STATE'), false],
  ['a right', typed('CLUSTER_AUTHORIZATION_FAILED'), false],
  ['nothing', new Error('SASL PLAIN authentication failed: by somebody else'), false],
])('expects of a refusal of %s what a retry can do', (_, error, isExpected) => {
  expect(mayBeAcceptedSoon(error)).toBe(isExpected);
});

interface TokenCase {
  readonly name: string;
  readonly content?: string;
  readonly path?: string;
  /** The broker's response. */
  readonly says?: string;
  readonly error: string;
  readonly mayBeSoon: boolean;
}

const cases: readonly TokenCase[] = [
  {
    name: 'expired',
    content: 'a',
    says: '{"status":"invalid_token"}',
    error: 'invalid_token',
    mayBeSoon: true,
  },
  { name: 'empty', content: '\n', error: 'it is empty', mayBeSoon: true },
  { name: 'two', content: 'a b', error: 'more than one token', mayBeSoon: false },
  { name: 'missing', error: 'ENOENT', mayBeSoon: false },
  { name: 'a folder', path: '.', error: 'EISDIR', mayBeSoon: false },
];

it.each(cases)('expects of a token that is $name what a retry can do', async (token) => {
  const { name, content, path = name, says = '', error, mayBeSoon } = token;
  const file = join(dir, path);
  if (content !== undefined) writeFileSync(file, content);
  const failure = await failureOf(file, says);
  expect(failure.message).toContain(error);
  expect(mayBeAcceptedSoon(failure)).toBe(mayBeSoon);
});

// A superuser may read any file.
it.skipIf(process.getuid?.() === 0)('waits for a token that it may not read yet', async () => {
  const file = join(dir, 'locked');
  writeFileSync(file, 'a');
  chmodSync(file, 0o000);
  const failure = await failureOf(file, '');
  expect(failure.message).toContain('EACCES');
  expect(mayBeAcceptedSoon(failure)).toBe(true);
});

async function failureOf(file: string, says: string): Promise<Error> {
  const authenticator = oauthBearer(file)({
    saslAuthenticate: async ({ response }: { response?: { parse(bytes: Buffer): unknown } }) =>
      response?.parse(Buffer.from(`0000${says}`)),
  } as never);
  return authenticator.authenticate().then(
    () => {
      throw new Error('it was accepted');
    },
    (error: Error) => error,
  );
}
