// Covers src/kafka/errors/away.ts.

import { beforeEach, describe, expect, it } from 'vitest';
import { OperatorError } from '../../../src/base/operator-error.ts';
import { configSchema } from '../../../src/config/schema.ts';
import { kafkaError } from '../../../src/kafka/client/kafka-client.ts';
import { type FirstLogin, Logins, loginsOf } from '../../../src/kafka/login/logins.ts';
import { handClock } from './hand-clock.ts';

let clock: ReturnType<typeof handClock>;
let logins: Logins;
beforeEach(() => {
  clock = handClock();
  logins = new Logins(clock);
});

function refusal(message = 'invalid_token'): Error {
  return Object.assign(new Error(message), { retriable: false });
}

/** The times at which each of so many logins that ask now begin, once they do. */
function ask(count: number): number[] {
  const begun: number[] = [];
  for (let each = 0; each < count; each++) {
    void logins.turn().then(() => begun.push(clock.elapsedMs()));
  }
  return begun;
}

async function turns(count: number): Promise<number[]> {
  const begun = ask(count);
  await clock.pass(count * 1_000);
  return begun;
}

it('lets connections log in at once, and again after a second', async () => {
  await clock.pass(500);
  expect(await turns(3)).toEqual([500, 500, 500]);
  let begun = 0;
  const lastMs = clock.elapsedMs() - 400;
  void logins.turn(lastMs).then(() => {
    begun = clock.elapsedMs();
  });
  await clock.pass(2_000);
  expect(begun - lastMs).toBe(1_000);
});

it('lets one connection log in a second while logins are refused', async () => {
  logins.accepted();
  logins.refused(refusal());
  expect(await turns(3)).toEqual([1_000, 2_000, 3_000]);
});

it('lets all connections log in as soon as one is accepted', async () => {
  logins.accepted();
  logins.refused(refusal());
  const begun = ask(5);
  await clock.pass(1_500);
  logins.accepted();
  await clock.pass(0);
  expect(begun).toEqual([1_000, 1_500, 1_500, 1_500, 1_500]);
  expect(logins.problems()).toEqual([]);
});

it('leaves a refusal of the first login for good', () => {
  const error = refusal();
  logins.refused(error);
  expect(error).toMatchObject({ retriable: false });
  expect(logins.problems()).toEqual([]);
});

it('lets a later refusal be tried again, whichever error kafkajs looks at', () => {
  logins.accepted();
  const error = new Error('outer', { cause: refusal() });
  logins.refused(error);
  expect(error).toMatchObject({ retriable: true, cause: { retriable: true } });
});

it('is a problem after five seconds, and ends the process after five minutes', async () => {
  logins.accepted();
  let end: unknown;
  logins.lost.catch((error: unknown) => {
    end = error;
  });
  const refuseFor = async (ms: number) => {
    logins.refused(refusal());
    await clock.pass(ms);
  };
  await refuseFor(4_999);
  expect(logins.problems()).toEqual([]);
  await clock.pass(1);
  expect(logins.problems()).toEqual([
    'kafka: the brokers have refused the login for 5 s and accepted it before: invalid_token',
  ]);
  await refuseFor(294_999);
  logins.refused(refusal());
  await clock.pass(1);
  expect(end).toBeUndefined();
  logins.refused(refusal());
  await clock.pass(0);
  expect(end).toBeInstanceOf(OperatorError);
  expect(end).toMatchObject({
    code: 'TAILMARK_KAFKA_LOGIN_LOST',
    exitCode: 69,
    message:
      'Cannot continue: the brokers must accept kafka.sasl; they have refused it for 5 min ' +
      'and accepted it before: "invalid_token"',
  });
});

it('restarts the time of refusals after an accepted login', async () => {
  logins.accepted();
  logins.refused(refusal());
  await clock.pass(299_000);
  logins.accepted();
  logins.refused(refusal());
  await clock.pass(4_000);
  expect(logins.problems()).toEqual([]);
});

describe('a first login that is waited for', () => {
  const lines: string[] = [];
  const log = {
    info: (text: string) => lines.push(text),
    warn: (_: object, text: string) => lines.push(text),
  } as unknown as FirstLogin['log'];
  const expired = () =>
    Object.assign(refusal('SASL OAUTHBEARER authentication failed: invalid_token'), {
      name: 'KafkaJSSASLAuthenticationError',
    });
  let tries = 0;
  /** A client whose connections are refused. */
  const client = (error: () => Error | undefined) => ({
    connect: async () => {
      tries += 1;
      await logins.turn();
      const refused = error();
      if (refused === undefined) return logins.accepted();
      logins.refused(refused);
      throw new Error('kafkajs', { cause: refused });
    },
  });
  beforeEach(() => {
    tries = 0;
    lines.length = 0;
  });

  it('is tried each second until it is accepted', async () => {
    logins.waitForFirst({ log });
    let isConnected = false;
    const connecting = logins.connect(
      client(() => (clock.elapsedMs() < 7_500 ? expired() : undefined)),
    );
    void connecting.then(() => {
      isConnected = true;
    });
    await clock.pass(7_400);
    expect([tries, isConnected]).toEqual([9, false]);
    expect(logins.problems()).toEqual([
      'kafka: the brokers have not accepted a login for 7 s: ' +
        'SASL OAUTHBEARER authentication failed: invalid_token',
    ]);
    await clock.pass(1_000);
    expect([tries, isConnected, logins.wereAccepted]).toEqual([9, true, true]);
    expect(logins.problems()).toEqual([]);
    expect(lines).toEqual([
      'the brokers do not accept the login; the process is not ready, and tries again for 5 min',
      'the brokers accept the login; the process starts',
    ]);
  });

  it('ends the process after five minutes, with 69', async () => {
    logins.waitForFirst({ log });
    let end: unknown;
    logins.connect(client(expired)).catch((error: unknown) => {
      end = error;
    });
    await clock.pass(299_999);
    expect(end).toBeUndefined();
    await clock.pass(1);
    expect(end).toMatchObject({
      code: 'TAILMARK_KAFKA_LOGIN_LOST',
      exitCode: 69,
      message:
        'Cannot continue: the brokers must accept kafka.sasl; they have refused it for 5 min and have ' +
        'accepted none yet: "SASL OAUTHBEARER authentication failed: invalid_token"',
    });
  });

  it('ends at once where the configuration is wrong, also after a while', async () => {
    logins.waitForFirst({ log });
    const wrong = Object.assign(refusal('not enabled'), { type: 'UNSUPPORTED_SASL_MECHANISM' });
    const refused = logins.connect(client(() => (clock.elapsedMs() < 2_500 ? expired() : wrong)));
    const ended = expect(refused).rejects.toMatchObject({ cause: wrong });
    await clock.pass(3_000);
    await ended;
    expect(tries).toBe(4);
  });

  it('goes on while a broker is away, for as long as others refuse', async () => {
    logins.waitForFirst({ log });
    const away = Object.assign(new Error('Connection error: '), {
      ...{ name: 'KafkaJSConnectionError', code: 'ECONNREFUSED' },
    });
    const error = () => {
      const nowMs = clock.elapsedMs();
      if (nowMs < 2_500) return expired();
      return nowMs < 5_500 ? away : undefined;
    };
    const connecting = logins.connect(client(error));
    await clock.pass(8_000);
    await connecting;
    // Each second, as ever.
    expect(tries).toBe(7);
  });

  it('does not wait for brokers that are away and never refused', async () => {
    logins.waitForFirst({ log });
    const away = Object.assign(new Error('Connection error: '), { name: 'KafkaJSConnectionError' });
    await expect(logins.connect(client(() => away))).rejects.toMatchObject({ cause: away });
    expect(tries).toBe(1);
  });

  it('ends with the signal', async () => {
    const stopping = new AbortController();
    logins.waitForFirst({ log, signal: stopping.signal });
    const stopped = expect(logins.connect(client(expired))).rejects.toThrow('stopped while');
    await clock.pass(1_500);
    stopping.abort();
    await stopped;
    // A client that connects afterwards, of whom the signal is not, does so.
    const connecting = logins.connect(client(() => undefined));
    await clock.pass(1_500);
    await connecting;
  });

  it('is tried once where nobody waits', async () => {
    await expect(logins.connect(client(expired))).rejects.toThrow('kafkajs');
    expect(tries).toBe(1);
  });
});

it.each([
  ['ILLEGAL_SASL_STATE', 'Request is not valid given the current SASL state'],
  ['SASL_AUTHENTICATION_FAILED', 'SASL authentication failed'],
])('says of %s what was accepted before', (type, message) => {
  const sasl = { mechanism: 'plain', username: 'u', password: 'p' };
  const { kafka } = configSchema.parse({ kafka: { sasl } });
  const error = Object.assign(new Error(message), { type });
  expect(kafkaError(error, 'read from Kafka', kafka)).toMatchObject({
    code: 'TAILMARK_KAFKA_AUTH',
  });
  loginsOf(kafka).accepted();
  const lost = kafkaError(error, 'read from Kafka', kafka);
  expect(lost).toMatchObject({
    code: 'TAILMARK_KAFKA_LOGIN_LOST',
    message: `Cannot read from Kafka: the broker refused kafka.sasl, which it accepted before: "${message}"`,
  });
  expect(lost.hint).toContain('kafka.sasl.token_file');
  expect(lost.hint).not.toContain('remove kafka.sasl');
});
