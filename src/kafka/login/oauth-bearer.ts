import { readFileSync } from 'node:fs';
import kafkajs, { type AuthenticationProviderArgs, type Authenticator } from 'kafkajs';
import { OperatorError } from '../../base/operator-error.ts';
import { knownSecrets } from '../../base/telemetry/known-secrets.ts';
import { notReady } from './may-be-accepted-soon.ts';

const { KafkaJSSASLAuthenticationError } = kafkajs;
/** The file, or what was to mount it, is not there, or it is something else: no token comes of waiting. */
const wrongPath: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP']);

/**
 * Logs in by SASL OAUTHBEARER (RFC 7628) with the token that the file contains at that moment. The file may
 * be replaced while the process runs, as Kubernetes does with projected tokens.
 *
 * kafkajs' own mechanism treats every response as success. A broker puts its refusal into the body of a
 * successful response, so kafkajs only sees that the connection is closed.
 */
export function oauthBearer(
  tokenFile: string,
): (args: AuthenticationProviderArgs) => Authenticator {
  return ({ saslAuthenticate }) => ({
    authenticate: async () => {
      const message = Buffer.from(`n,,\u0001auth=Bearer ${readToken(tokenFile)}\u0001\u0001`);
      const refusal = await saslAuthenticate({
        request: { encode: () => withLength(message) },
        response: { decode: (response: Buffer) => response, parse: refusalIn },
      });
      if (typeof refusal !== 'string') return;
      throw authenticationError(`SASL OAUTHBEARER authentication failed: ${refusal}`);
    },
  });
}

/** Its types have no message. */
function authenticationError(message: string): Error {
  return Reflect.construct(KafkaJSSASLAuthenticationError, [message]);
}

function withLength(bytes: Buffer): Buffer {
  const framed = Buffer.alloc(4 + bytes.length);
  framed.writeInt32BE(bytes.length);
  bytes.copy(framed, 4);
  return framed;
}

/** Returns why the broker rejects the token (`invalid_token`); undefined if it accepts it. */
function refusalIn(response: Buffer): string | undefined {
  // The first four bytes are the length.
  const text = response.subarray(4).toString().replaceAll('\u0001', '').trim();
  if (text === '') return undefined;
  const status = /"status"\s*:\s*"([\w.-]{1,80})"/.exec(text)?.[1];
  return status ?? 'the token was rejected';
}

function readToken(path: string): string {
  let token: string;
  try {
    token = readFileSync(path, 'utf8').trim();
  } catch (error) {
    const { code = 'it cannot be read' } = error as NodeJS.ErrnoException;
    const unread = tokenError(path, code);
    throw wrongPath.has(code) ? unread : notReady(unread);
  }
  if (token === '') throw notReady(tokenError(path, 'it is empty'));
  // A control character would end the login field that contains the token.
  if (!/^[\x21-\x7e]+$/.test(token)) throw tokenError(path, 'it contains more than one token');
  knownSecrets.remember(token);
  return token;
}

/** Sets no cause, because kafkajs would report the cause instead of this error. */
function tokenError(path: string, why: string): OperatorError {
  return new OperatorError(
    'TAILMARK_KAFKA_AUTH',
    `Cannot log in to Kafka: kafka.sasl.token_file must contain one token; it is ${path} (${why})`,
    {
      hint: 'Renew the token by replacing the whole file: write a new file, then rename it.',
    },
  );
}
