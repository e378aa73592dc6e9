import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import kafkajs, { type AclOperationTypes } from 'kafkajs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { OperatorError } from '../../src/base/operator-error.ts';
import { loadConfig } from '../../src/config/load/load-config.ts';
import type { Config } from '../../src/config/schema.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { openKafkaPublisher } from '../../src/kafka/client/kafka-publisher.ts';
import { run } from '../cli/captured-io.ts';
import { useStack } from '../containers/stack.ts';
import { makeAuthority } from './kit/certificates.ts';
import { poll } from './kit/poll.ts';
import { presentTopics } from './kit/present-topics.ts';
import type { Rig } from './kit/rig.ts';
import { type SecureKafka, startSecureKafka } from './kit/secure-kafka.ts';
import { truthOf } from './kit/truth.ts';
import { unsecuredToken } from './kit/unsecured-token.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const password = 'canary-of-the-password';
const wrong = 'canary-of-a-wrong-one';
const longestMs = 20_000;
type Settings = Readonly<Record<string, string>>;

let kafka: SecureKafka;
let tokenFile: string;

beforeAll(async () => {
  if (stack.brokers.length === 0) return;
  kafka = await startSecureKafka({ username: 'ann', password });
  tokenFile = join(kafka.dir, 'token');
  putToken(unsecuredToken('tailmark', 600));
});
// Names the cause, where all that follows fails to connect.
afterEach(() => kafka?.requireRunning());
afterAll(async () => {
  await kafka?.stop();
});

/** As a renewer of tokens should write it: the file never has half a token. */
function putToken(token: string): void {
  writeFileSync(`${tokenFile}.new`, `${token}\n`);
  renameSync(`${tokenFile}.new`, tokenFile);
}

function file(name: string, content: string): string {
  const path = join(kafka.dir, name);
  writeFileSync(path, content);
  return path;
}

const login = (mechanism: string, secret = password): Settings => ({
  KAFKA_SASL_MECHANISM: mechanism,
  KAFKA_SASL_USERNAME: 'ann',
  KAFKA_SASL_PASSWORD: secret,
});
const authority = (): Settings => ({ KAFKA_TLS_CA_FILE: kafka.files.ca });
const plaintext = (): Settings => ({ KAFKA_BROKERS: kafka.plaintext });
const sasl = (): Settings => ({ KAFKA_BROKERS: kafka.saslPlaintext });
const saslTls = (): Settings => ({ KAFKA_BROKERS: kafka.saslTls, ...authority() });
const mutual = (): Settings => ({ KAFKA_BROKERS: kafka.mutualTls, ...authority() });
const ownCertificate = (): Settings => ({
  KAFKA_TLS_CERT_FILE: kafka.files.cert,
  KAFKA_TLS_KEY_FILE: kafka.files.key,
});
const token = (): Settings => ({
  KAFKA_SASL_MECHANISM: 'oauthbearer',
  KAFKA_SASL_TOKEN_FILE: tokenFile,
});

const variables = (settings: Settings) =>
  Object.fromEntries(Object.entries(settings).map(([key, value]) => [`TAILMARK_${key}`, value]));

/** The rig's configuration, with another connection to its broker. */
function through(rig: Rig, settings: Settings): Config {
  const env = { ...rig.env, ...variables(settings) };
  return loadConfig({ env, readFile: (path) => (path === 'tailmark.yaml' ? '' : 'a file') }).config;
}

function withSecureRig(name: string, use: (rig: Rig) => Promise<void>) {
  return withRig({ stack: { ...stack, brokers: [kafka.plaintext] }, name }, use);
}

const accepted: readonly { readonly name: string; readonly settings: () => Settings }[] = [
  { name: 'PLAIN', settings: () => ({ ...sasl(), ...login('plain') }) },
  { name: 'PLAIN over TLS', settings: () => ({ ...saslTls(), ...login('plain') }) },
  { name: 'SCRAM-SHA-256', settings: () => ({ ...sasl(), ...login('scram-sha-256') }) },
  {
    name: 'SCRAM-SHA-512 over TLS',
    settings: () => ({ ...saslTls(), ...login('scram-sha-512') }),
  },
  { name: 'OAUTHBEARER over TLS', settings: () => ({ ...saslTls(), ...token() }) },
  { name: 'mutual TLS', settings: () => ({ ...mutual(), ...ownCertificate() }) },
];

describe('Kafka with the right credentials', () => {
  it.each(accepted)('$name: events are read, dead letters are written', async ({ settings }) => {
    await withSecureRig('secure', async (rig) => {
      const config = through(rig, settings());
      const events = Array.from({ length: 50 }, (_, n) => ({
        ts: Date.now() - 60_000 + n,
        model: 'ranker',
        stages_ms: { queue: 1 + (n % 5), forward: 30 + (n % 11) },
      }));
      const publisher = await openKafkaPublisher(config.kafka);
      await publisher.publish(
        rig.topic,
        [...events.map((event) => JSON.stringify(event)), 'no event'].map((value) => ({ value })),
      );
      await publisher.close();
      await rig.start(['ingest'], config);
      await rig.untilConsumed(events.length + 1);
      await rig.expectStages(truthOf(events));
      const [letter] = await rig.read(`${rig.topic}.dlq`, 1);
      expect(letter?.value?.toString()).toBe('no event');
    });
  });

  it('check --connect finds nothing wrong', async () => {
    await withSecureRig('secure', async (rig) => {
      const env = { ...rig.env, ...variables({ ...saslTls(), ...login('scram-sha-512') }) };
      const { exitCode, out } = await rig.cli(['check', '--connect', '--json'], { env });
      expect([exitCode, JSON.parse(out).ok]).toEqual([0, true]);
    });
  });
});

describe('Kafka with a login that lacks rights', () => {
  it('check --connect says which topic may not be written, and writes nothing', async () => {
    await withSecureRig('rights', async (rig) => {
      const topic = `${rig.topic}.dlq`;
      const admin = createKafkaClient(rig.config.kafka).admin();
      await admin.connect();
      rig.atEnd(() => admin.disconnect());
      const allow = (principal: string, operation: AclOperationTypes) =>
        admin.createAcls({
          acl: [
            {
              resourceType: kafkajs.AclResourceTypes.TOPIC,
              resourceName: topic,
              resourcePatternType: kafkajs.ResourcePatternTypes.LITERAL,
              principal,
              host: '*',
              operation,
              permissionType: kafkajs.AclPermissionTypes.ALLOW,
            },
          ],
        });
      const env = { ...rig.env, ...variables({ ...saslTls(), ...login('scram-sha-512') }) };
      const check = async () => {
        const { exitCode, out } = await rig.cli(
          ['check', '--connect', '--roles', 'ingest', '--json'],
          { env },
        );
        const { findings } = JSON.parse(out) as { findings: { what: string }[] };
        return { exitCode, finding: findings.find(({ what }) => what === 'Kafka writes') };
      };
      const denied = {
        exitCode: 78,
        finding: {
          ok: false,
          code: 'TAILMARK_KAFKA_DENIED',
          detail: expect.stringContaining(`Cannot write to topic ${topic}: the user of kafka.sasl`),
        },
      };
      const { ALTER, DESCRIBE, WRITE } = kafkajs.AclOperationTypes;
      const allowed = { exitCode: 0, finding: { ok: true } };
      // A broker follows the controller's ACLs with a delay.
      const expectSoon = async (expected: typeof denied | typeof allowed) => {
        const found = await poll('the ACLs are in force', async () => {
          const result = await check();
          return result.exitCode === expected.exitCode ? result : undefined;
        });
        expect(found).toMatchObject(expected);
      };
      // Missing, and may be created.
      await expectSoon(allowed);
      expect(await presentTopics(rig.config.kafka, [topic])).toEqual([]);
      // There, and hidden.
      await admin.createTopics({ topics: [{ topic }] });
      await allow('User:bob', ALTER);
      await expectSoon(denied);
      // There, and not to be written.
      await allow('User:ann', DESCRIBE);
      await expectSoon(denied);
      await allow('User:ann', WRITE);
      await expectSoon(allowed);
      expect(await admin.fetchTopicOffsets(topic)).toMatchObject([{ high: '0' }]);
    });
  });
});

interface Refusal {
  readonly name: string;
  readonly settings: () => Settings;
  readonly exitCode: number;
  readonly code: string;
  readonly says: string;
  readonly hint: string;
}

const auth = { exitCode: 78, code: 'TAILMARK_KAFKA_AUTH' };
const tls = { exitCode: 78, code: 'TAILMARK_KAFKA_TLS' };
const hungUp = { exitCode: 69, code: 'TAILMARK_KAFKA_UNREACHABLE', says: 'closed' };

const refusals: readonly Refusal[] = [
  ...['plain', 'scram-sha-256', 'scram-sha-512'].map((mechanism) => ({
    name: `a wrong password with ${mechanism}`,
    settings: () => ({ ...saslTls(), ...login(mechanism, wrong) }),
    ...auth,
    says: 'authentication failed',
    hint: 'TAILMARK_KAFKA_SASL_PASSWORD',
  })),
  {
    name: 'an expired token',
    settings: () => ({
      ...saslTls(),
      ...token(),
      KAFKA_SASL_TOKEN_FILE: file('expired', unsecuredToken('tailmark', -30)),
    }),
    ...auth,
    says: 'invalid_token',
    hint: 'expiry, audience and issuer',
  },
  {
    name: 'an empty token file',
    settings: () => ({ ...saslTls(), ...token(), KAFKA_SASL_TOKEN_FILE: file('empty', '\n') }),
    ...auth,
    says: 'it is empty',
    hint: 'replacing the whole file',
  },
  {
    name: 'a login where the listener takes none',
    settings: () => ({ ...plaintext(), ...login('plain') }),
    ...auth,
    says: 'SASL state',
    hint: 'remove kafka.sasl',
  },
  { name: 'no login where one is wanted', settings: sasl, ...hungUp, hint: 'kafka.sasl' },
  {
    name: 'no TLS where it is wanted',
    settings: () => ({ KAFKA_BROKERS: kafka.saslTls, ...login('plain') }),
    ...hungUp,
    hint: 'kafka.tls',
  },
  {
    name: 'TLS where there is none',
    settings: () => ({ ...plaintext(), ...authority() }),
    ...tls,
    says: 'does not speak TLS',
    hint: 'Remove kafka.tls',
  },
  {
    name: 'another authority',
    settings: () => ({
      ...saslTls(),
      ...login('plain'),
      KAFKA_TLS_CA_FILE: file('other.pem', makeAuthority('another').certPem),
    }),
    ...tls,
    says: 'not signed by an authority that we trust',
    hint: 'ca_file',
  },
  {
    name: "the system's authorities",
    settings: () => ({ KAFKA_BROKERS: kafka.saslTls, KAFKA_TLS: 'true', ...login('plain') }),
    ...tls,
    says: 'not signed by an authority that we trust',
    hint: 'ca_file',
  },
  {
    name: 'a certificate for another name',
    settings: () => ({
      ...saslTls(),
      ...login('plain'),
      KAFKA_TLS_SERVER_NAME: 'kafka.example',
    }),
    ...tls,
    says: 'for another name',
    hint: 'server_name',
  },
  {
    name: 'no client certificate where one is wanted',
    settings: mutual,
    ...tls,
    says: 'wants a client certificate',
    hint: 'cert_file',
  },
  {
    name: 'a client certificate of another authority',
    settings: () => {
      const { certPem, keyPem } = makeAuthority('another').issue('tailmark');
      return {
        ...mutual(),
        KAFKA_TLS_CERT_FILE: file('other-client.pem', certPem),
        KAFKA_TLS_KEY_FILE: file('other-client-key.pem', keyPem),
      };
    },
    ...tls,
    says: 'wants a client certificate',
    hint: 'cert_file',
  },
  {
    name: 'a key of another certificate',
    settings: () => ({
      ...mutual(),
      ...ownCertificate(),
      KAFKA_TLS_CERT_FILE: kafka.files.ca,
    }),
    ...tls,
    says: 'the key that of the certificate',
    hint: 'key_file',
  },
];

describe('Kafka that refuses', () => {
  it.each(refusals)('$name is reported in time, without a secret', async (refusal) => {
    const env = variables({ CLICKHOUSE_URL: 'http://127.0.0.1:1', ...refusal.settings() });
    const startMs = performance.now();
    const argv = ['check', '--connect', '--json', '--log-level', 'trace'];
    const { out, err } = await run(argv, { env });
    expect(performance.now() - startMs).toBeLessThan(longestMs);
    const { findings } = JSON.parse(out) as { findings: Record<string, string>[] };
    const found = findings.find(({ what }) => what === 'Kafka');
    expect(found).toMatchObject({ ok: false, code: refusal.code });
    expect(found?.detail?.toLowerCase()).toContain(refusal.says.toLowerCase());
    expect(found?.hint).toContain(refusal.hint);
    expect(out + err).not.toMatch(/canary-of/);
  });

  it('run ends with the error of a wrong configuration', async () => {
    await withSecureRig('refused', async (rig) => {
      const wrong = ['a login where the listener takes none', 'no TLS where it is wanted'];
      for (const refusal of refusals.filter(({ name }) => wrong.includes(name))) {
        const { name, settings, code, exitCode } = refusal;
        const env = { ...rig.env, ...variables(settings()) };
        const ended = await rig.cli(['run', '--json'], { env });
        const { error } = JSON.parse(ended.err) as { error: { code: string } };
        expect([name, ended.exitCode, error.code]).toEqual([name, exitCode, code]);
      }
    });
  });
});

describe('a token that rotates', () => {
  it('is read again for each login, and a broken one is an error until it is repaired', async () => {
    await withSecureRig('rotating', async (rig) => {
      const { kafka: config } = through(rig, { ...saslTls(), ...token() });
      const publisher = await openKafkaPublisher(config);
      rig.atEnd(() => publisher.close());
      const send = () =>
        publisher.publish(`${rig.topic}`, [{ value: null }]).then(
          () => 'sent',
          (error: unknown) => (error instanceof OperatorError ? error.code : String(error)),
        );
      expect(await send()).toBe('sent');
      putToken(unsecuredToken('tailmark', -30));
      const untilAnswer = (wanted: string) => {
        let last = '';
        return poll(
          `publishing ends with ${wanted}`,
          async () => {
            last = await send();
            return last === wanted ? true : undefined;
          },
          { seen: () => last },
        );
      };
      await untilAnswer('TAILMARK_KAFKA_LOGIN_LOST');
      putToken(unsecuredToken('tailmark', 600));
      await untilAnswer('sent');
    });
  });

  it('that is refused makes a run not ready until it is replaced', async () => {
    await withSecureRig('expiring', async (rig) => {
      const config = through(rig, { ...saslTls(), ...token() });
      putToken(unsecuredToken('tailmark', 600));
      const { url } = await rig.start(['ingest'], config);
      const event = { value: '{"ts":1789000000000,"model":"m","total_ms":1}' };
      await rig.publish([event]);
      await rig.untilConsumed(1);
      putToken(unsecuredToken('tailmark', -30));
      const untilReady = async (status: number, says: string) => {
        let last = '';
        await poll(
          `/readyz responds ${status}`,
          async () => {
            const response = await fetch(`${url}/readyz`);
            last = await response.text();
            return response.status === status && last.includes(says) ? true : undefined;
          },
          { seen: () => last },
        );
      };
      await untilReady(503, 'kafka: the brokers have refused the login for');
      putToken(unsecuredToken('tailmark', 600));
      await rig.publish([event]);
      await rig.untilConsumed(2);
      await untilReady(200, 'ready');
    });
  });
});
