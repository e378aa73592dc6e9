import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterId, kafkaPing } from '../../../src/local/kafka/kafka-broker.ts';
import { kafkaProperties } from '../../../src/local/kafka/kafka-properties.ts';
import { freePorts } from '../../../src/local/local-ports.ts';
import { logTail } from '../../../src/local/process/program-log.ts';
import { describeExit, untilServing } from '../../../src/local/process/start-failure.ts';
import type { ChildHandle } from '../../../src/local/process/tied-process.ts';
import { type Authority, makeAuthority } from './certificates.ts';
import { javaRunner } from './java-runner.ts';

/** A broker with a listener of each kind, on the loopback. */
export interface SecureKafka {
  readonly plaintext: string;
  readonly saslPlaintext: string;
  readonly saslTls: string;
  /** Requires a client certificate of the authority. */
  readonly mutualTls: string;
  /** Files: the authority's certificate, a client's certificate and key. */
  readonly files: Readonly<Record<'ca' | 'cert' | 'key', string>>;
  readonly authority: Authority;
  readonly dir: string;
  readonly log: string;
  /** @throws {Error} with the last lines of its log, where the broker has ended */
  requireRunning(): void;
  stop(): Promise<void>;
}

/** A user that may log in by password, by any of PLAIN and the two SCRAMs. */
export interface Login {
  readonly username: string;
  readonly password: string;
}

const modules = 'org.apache.kafka.common.security';

/**
 * Starts Apache Kafka with SASL (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, and OAUTHBEARER with its
 * validator of unsecured tokens), with and without TLS, and with mutual TLS. Some 5 s.
 */
export async function startSecureKafka(login: Login): Promise<SecureKafka> {
  const dir = mkdtempSync(join(tmpdir(), 'tailmark-secure-'));
  const [plain = 0, controller = 0, sasl = 0, saslTls = 0, mutual = 0] = await freePorts(
    new Array<undefined>(5).fill(undefined),
  );
  const authority = makeAuthority('tailmark test authority');
  const files = writeCertificates(dir, authority);
  const properties = join(dir, 'server.properties');
  const listeners = { PLAINTEXT: plain, SASL_PLAINTEXT: sasl, SASL_SSL: saslTls, SSL: mutual };
  writeFileSync(
    properties,
    kafkaProperties({ dataDir: join(dir, 'data'), port: plain, controllerPort: controller }) +
      listenerProperties(listeners, controller, files) +
      saslProperties(login),
  );
  const run = await javaRunner(dir);
  let broker: ChildHandle | undefined;
  const stop = async () => {
    await broker?.stop();
    run.close();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const scram = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
      '--add-scram',
      `${mechanism}=[name=${login.username},password=${login.password}]`,
    ]);
    const id = clusterId(randomBytes(16));
    const format = await run.start('kafka.tools.StorageTool', [
      ...['format', '-t', id, '-c', properties],
      ...scram,
    ]);
    const { code } = await format.exited;
    if (code !== 0) throw new Error(`no storage formatted: ${readFileSync(run.log, 'utf8')}`);
    broker = await run.start('kafka.Kafka', [properties]);
    const listening = () =>
      Promise.all([kafkaPing(plain), kafkaPing(sasl), accepts(saslTls), accepts(mutual)]);
    const serves = async () => (await listening()).every(Boolean);
    await untilServing('Kafka', broker, { serves, deadlineMs: 90_000, logPaths: [run.log] });
    let ended: string | undefined;
    void broker.exited.then((exit) => {
      ended = describeExit(exit);
    });
    return {
      plaintext: `127.0.0.1:${plain}`,
      saslPlaintext: `127.0.0.1:${sasl}`,
      saslTls: `127.0.0.1:${saslTls}`,
      mutualTls: `127.0.0.1:${mutual}`,
      files,
      authority,
      dir,
      log: run.log,
      requireRunning: () => {
        if (ended !== undefined) {
          throw new Error(`the broker ${ended}:\n${logTail(run.log).join('\n')}`);
        }
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Resolves with true if this port of the loopback accepts connections. Never rejects. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.on('connect', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

function writeCertificates(dir: string, authority: Authority): SecureKafka['files'] {
  const broker = authority.issue('broker');
  const client = authority.issue('tailmark');
  const write = (name: string, content: string) => {
    const path = join(dir, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  write('broker.pem', broker.keyPem + broker.certPem);
  return {
    ca: write('ca.pem', authority.certPem),
    cert: write('client.pem', client.certPem),
    key: write('client-key.pem', client.keyPem),
  };
}

/** These lines come after the plain ones and win. */
function listenerProperties(
  ports: Readonly<Record<string, number>>,
  controllerPort: number,
  { ca }: SecureKafka['files'],
): string {
  const addresses = Object.entries(ports).map(([name, port]) => `${name}://127.0.0.1:${port}`);
  const protocols = Object.keys(ports).map((name) => `${name}:${name}`);
  return lines({
    listeners: [...addresses, `CONTROLLER://127.0.0.1:${controllerPort}`].join(','),
    'advertised.listeners': addresses.join(','),
    'listener.security.protocol.map': [...protocols, 'CONTROLLER:PLAINTEXT'].join(','),
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': ca.replace(/ca\.pem$/, 'broker.pem'),
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': ca,
    'listener.name.ssl.ssl.client.auth': 'required',
  });
}

function saslProperties({ username, password }: Login): string {
  const settings: Record<string, string> = {
    // Topics without an ACL are everybody's, those with one are not; the plain listener may do anything.
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:ANONYMOUS',
    'allow.everyone.if.no.acl.found': 'true',
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER',
  };
  for (const listener of ['sasl_plaintext', 'sasl_ssl']) {
    // So a rotated token is seen within 2 s.
    settings[`listener.name.${listener}.oauthbearer.connections.max.reauth.ms`] = '2000';
    const of = (mechanism: string) => `listener.name.${listener}.${mechanism}.sasl.jaas.config`;
    settings[of('plain')] =
      `${modules}.plain.PlainLoginModule required user_${username}="${password}";`;
    for (const mechanism of ['scram-sha-256', 'scram-sha-512']) {
      settings[of(mechanism)] = `${modules}.scram.ScramLoginModule required;`;
    }
    settings[of('oauthbearer')] =
      `${modules}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`;
  }
  return lines(settings);
}

function lines(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}
