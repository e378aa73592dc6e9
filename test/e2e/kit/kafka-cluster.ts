import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findJava } from '../../../src/local/kafka/java-runtime.ts';
import { clusterId, kafkaPing } from '../../../src/local/kafka/kafka-broker.ts';
import { ensureKafkaJars } from '../../../src/local/kafka/kafka-jars.ts';
import { kafkaProperties } from '../../../src/local/kafka/kafka-properties.ts';
import { freePorts } from '../../../src/local/local-ports.ts';
import { untilServing } from '../../../src/local/process/start-failure.ts';
import type { ChildHandle } from '../../../src/local/process/tied-process.ts';
import { type JavaRunner, javaRunner } from './java-runner.ts';

export interface KafkaClusterOptions {
  /** @default {3} */
  readonly brokers?: number;
  /** Whether a process of its own is the controller, so that no broker takes it along. @default {false} */
  readonly ownController?: boolean;
  /** Lines of server.properties of every broker, which win over those of the kit. @default {{}} */
  readonly settings?: Readonly<Record<string, string | number>>;
}

/** A process of a cluster, with its ports. */
interface Member {
  readonly nodeId: number;
  readonly role: 'broker' | 'controller' | 'broker,controller';
  readonly plain: number;
  readonly sasl: number;
  readonly controller: number;
}

const startDeadlineMs = 120_000;

/**
 * Apache Kafka as a cluster on the loopback: brokers that are controllers too. Each has a listener without
 * and one with login. Brokers may be stopped, killed and started again on their data.
 */
export class KafkaCluster {
  /** The brokers. */
  readonly nodes: readonly KafkaNode[];
  readonly #all: readonly KafkaNode[];
  readonly #dir: string;

  private constructor(all: readonly KafkaNode[], brokerCount: number, dir: string) {
    this.#all = all;
    this.nodes = all.slice(0, brokerCount);
    this.#dir = dir;
  }

  /** Starts the brokers; some 10 s. */
  static async start(options: KafkaClusterOptions = {}): Promise<KafkaCluster> {
    const { brokers: count = 3, settings = {}, ownController = false } = options;
    const dir = mkdtempSync(join(tmpdir(), 'tailmark-cluster-'));
    const free = await freePorts(new Array<undefined>(3 * (count + 1)).fill(undefined));
    const processes = Array.from({ length: ownController ? count + 1 : count }, (_, at): Member => {
      const [plain = 0, sasl = 0, controller = 0] = free.slice(3 * at);
      const own = at < count ? 'broker' : 'controller';
      const role = ownController ? own : 'broker,controller';
      return { nodeId: at + 1, role, plain, sasl, controller };
    });
    const id = clusterId(randomBytes(16));
    const all = await Promise.all(
      processes.map((member) => KafkaNode.prepare({ member, all: processes, dir, settings, id })),
    );
    const cluster = new KafkaCluster(all, count, dir);
    try {
      await Promise.all(all.map((node) => node.start()));
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** Addresses without a login. */
  get brokers(): string[] {
    return this.nodes.map(({ plain }) => plain);
  }

  /** Addresses with a login. */
  get saslBrokers(): string[] {
    return this.nodes.map(({ sasl }) => sasl);
  }

  node(nodeId: number): KafkaNode {
    const found = this.nodes.find((node) => node.nodeId === nodeId);
    if (found === undefined) throw new Error(`no broker ${nodeId}`);
    return found;
  }

  /** Sets the most bytes a second that a client id may fetch from each broker; undefined for no limit. */
  async limitFetches(clientId: string, bytesPerSecond: number | undefined): Promise<void> {
    const { path } = await findJava(process.env);
    const jars = await ensureKafkaJars({ env: process.env, onProgress: () => undefined });
    const change =
      bytesPerSecond === undefined
        ? ['--delete-config', 'consumer_byte_rate']
        : ['--add-config', `consumer_byte_rate=${bytesPerSecond}`];
    await promisify(execFile)(path, [
      ...['-Xmx128m', '-cp', join(jars, '*'), 'kafka.admin.ConfigCommand'],
      ...['--bootstrap-server', this.brokers.join(','), '--alter', ...change],
      ...['--entity-type', 'clients', '--entity-name', clientId],
    ]);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((node) => node.close()));
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

interface NodeOptions {
  readonly member: Member;
  readonly all: readonly Member[];
  readonly dir: string;
  readonly settings: Readonly<Record<string, string | number>>;
  readonly id: string;
}

/** One broker of a cluster. */
export class KafkaNode {
  readonly #member: Member;
  readonly #properties: string;
  readonly #run: JavaRunner;
  #child: ChildHandle | undefined;

  private constructor(member: Member, properties: string, run: JavaRunner) {
    this.#member = member;
    this.#properties = properties;
    this.#run = run;
  }

  static async prepare({ member, all, dir, settings, id }: NodeOptions): Promise<KafkaNode> {
    const home = join(dir, String(member.nodeId));
    mkdirSync(home);
    const properties = join(home, 'server.properties');
    writeFileSync(properties, propertiesOf(member, all, home, settings));
    const run = await javaRunner(home);
    const format = ['format', '-t', id, '-c', properties];
    const { code } = await (await run.start('kafka.tools.StorageTool', format)).exited;
    if (code !== 0) throw new Error(`no storage formatted: see ${run.log}`);
    return new KafkaNode(member, properties, run);
  }

  get nodeId(): number {
    return this.#member.nodeId;
  }

  get plain(): string {
    return `127.0.0.1:${this.#member.plain}`;
  }

  get sasl(): string {
    return `127.0.0.1:${this.#member.sasl}`;
  }

  /** Resolves when it takes connections. */
  async start(): Promise<void> {
    this.#child = await this.#run.start('kafka.Kafka', [this.#properties]);
    const { role, plain, sasl } = this.#member;
    const brokerServes = async () => (await kafkaPing(plain)) && (await kafkaPing(sasl));
    await untilServing('Kafka', this.#child, {
      serves: role === 'controller' ? async () => true : brokerServes,
      deadlineMs: startDeadlineMs,
      logPaths: [this.#run.log],
    });
  }

  /** A controlled shutdown: others lead its partitions before it ends. */
  async stop(): Promise<void> {
    await this.#child?.stop();
    this.#child = undefined;
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    process.kill(child.pid, 'SIGKILL');
    await child.exited;
    this.#child = undefined;
  }

  async close(): Promise<void> {
    await this.kill();
    this.#run.close();
  }
}

const modules = 'org.apache.kafka.common.security';

/** Later lines win. */
function propertiesOf(
  { nodeId, role, plain, sasl, controller }: Member,
  all: readonly Member[],
  home: string,
  given: Readonly<Record<string, string | number>>,
): string {
  const voters = all.filter((each) => each.role.includes('controller'));
  const replicas = Math.min(3, all.filter((each) => each.role !== 'controller').length);
  const clients = `PLAINTEXT://127.0.0.1:${plain},SASL_PLAINTEXT://127.0.0.1:${sasl}`;
  const own = `CONTROLLER://127.0.0.1:${controller}`;
  const listeners = { broker: clients, controller: own, 'broker,controller': `${clients},${own}` };
  const settings: Record<string, string | number> = {
    'process.roles': role,
    'node.id': nodeId,
    'controller.quorum.voters': voters
      .map((each) => `${each.nodeId}@127.0.0.1:${each.controller}`)
      .join(','),
    listeners: listeners[role],
    'advertised.listeners': role === 'controller' ? own : clients,
    'listener.security.protocol.map':
      'PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT',
    'sasl.enabled.mechanisms': 'PLAIN,OAUTHBEARER',
    'listener.name.sasl_plaintext.plain.sasl.jaas.config': `${modules}.plain.PlainLoginModule required user_app="app-password";`,
    'listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config': `${modules}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`,
    'offsets.topic.replication.factor': replicas,
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': Math.min(2, replicas),
    'share.coordinator.state.topic.replication.factor': replicas,
    ...given,
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key}=${value}\n`);
  return (
    kafkaProperties({ dataDir: join(home, 'data'), port: plain, controllerPort: controller }) +
    lines.join('')
  );
}
