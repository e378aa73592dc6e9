import { brokerErrorType } from '../errors/broker-error.ts';

const unready = new WeakSet<object>();

/** Marks the error of a login that was not tried, as its token is not there yet. Returns it. */
export function notReady<T extends Error>(error: T): T {
  unready.add(error);
  return error;
}

/**
 * True where the refusal of a first login may be over soon, with the same configuration: a token that has
 * expired or is not written yet, an issuer that is away, a user or a password that the brokers do not know
 * yet. They say no more than that it failed. A mechanism that they do not offer, a listener that takes no
 * login, and a token file that is missing or wrong are the configuration's.
 */
export function mayBeAcceptedSoon(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (unready.has(error)) return true;
  const type = brokerErrorType(error);
  if (type !== undefined) return type === 'SASL_AUTHENTICATION_FAILED';
  // kafkajs gives no type to the refusals of its mechanisms, and the same name to that of the mechanism itself.
  const isOfLogin = /^SASL .* authentication failed: /.test(error.message);
  return error.name === 'KafkaJSSASLAuthenticationError' && isOfLogin;
}
