import { systemClock } from '../../base/clock.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { failedProbe, type ProbeFinding } from '../../base/probe-finding.ts';
import type { Config } from '../../config/schema.ts';
import type { Role } from '../../roles/role.ts';
import type { Io } from '../io.ts';
import { waiting } from '../waiting.ts';

/** Probes of the servers. Their clients are loaded only when they are used. */
export const probes = {
  kafka: async (config: Config, roles: readonly Role[]) => {
    const { probeKafka } = await import('../../kafka/client/probe-kafka.ts');
    const { assembleTopics, createdTopics, requiredTopics } = await import(
      '../../roles/assemble/assemble-topics.ts'
    );
    // Only who assembles alone needs no topic of requests.
    const assembles = roles.includes('assemble');
    const reading: Role[] = assembles && roles.length === 1 ? ['assemble'] : ['ingest', ...roles];
    const output = assembles ? [{ topic: assembleTopics(config).output }] : [];
    const written = [...createdTopics(config, roles), ...output];
    return probeKafka(config, requiredTopics(config, reading), written);
  },
  clickhouse: async (config: Config, roles: readonly Role[]) =>
    (await import('../../sink/probe-clickhouse.ts')).probeClickHouse(
      config,
      roles.filter((role) => role !== 'assemble'),
    ),
  /** Needs Kafka with its topics. */
  topics: async (config: Config) => {
    const { probeTopics } = await import('../../topics/probe-topics.ts');
    const { createLog } = await import('../../base/telemetry/log.ts');
    return probeTopics(config, createLog({ level: 'error' }));
  },
  /** The same of topics of spans, and of the group that assembles them. */
  spanTopics: async (config: Config) => {
    const { probeAssemblers } = await import('../../roles/assemble/other-assemblers.ts');
    const { probeSpanTopics } = await import('../../roles/assemble/probe-span-topics.ts');
    return (await Promise.all([probeAssemblers(config), probeSpanTopics(config)])).flat();
  },
  /** Needs both servers. */
  group: async (config: Config) =>
    (await import('../../ingest/require-own-group.ts')).probeGroup(config),
};

/** A parameter of the commands, so that tests can inject any result. */
export type Probes = Readonly<typeof probes>;

/** Longest wait for a probe, milliseconds. */
const deadlineMs = 15_000;

/**
 * Runs the probes of both servers concurrently, and where both are well, those of the topics' records and
 * of the group which ingests. A probe that hangs or throws is a finding.
 *
 * @param io its standard error says where ClickHouse takes long.
 * @param roles whose writes are tried. @default none
 */
export async function runProbes(
  probes: Probes,
  config: Config,
  io: Pick<Io, 'err' | 'signal'>,
  roles: readonly Role[] = [],
): Promise<ProbeFinding[]> {
  const { clickhouse, source } = config;
  const { type } = source;
  const { signal } = io;
  const probeClickHouse = () =>
    waiting(io, { clickhouse, doing: 'probe it', limitMs: deadlineMs }, () =>
      bounded('ClickHouse', probes.clickhouse(config, roles), signal),
    );
  // Events of a file or of standard input come without a broker.
  if (type !== 'kafka') {
    const unused = { ok: true, what: 'Kafka', detail: `not used: source.type is ${type}` };
    return [unused, ...(await probeClickHouse())];
  }
  const both = [bounded('Kafka', probes.kafka(config, roles), signal)];
  // Traces are assembled without ClickHouse.
  if (roles.length === 0 || roles.some((role) => role !== 'assemble')) {
    both.push(probeClickHouse());
  }
  const findings = (await Promise.all(both)).flat();
  if (findings.some(({ ok }) => !ok)) return findings;
  const more: Promise<ProbeFinding[]>[] = [];
  if (roles.length === 0 || roles.includes('ingest')) {
    more.push(bounded('Kafka records', probes.topics(config), signal));
    more.push(bounded('consumer group', probes.group(config), signal));
  }
  if (roles.includes('assemble')) {
    more.push(bounded('Kafka records', probes.spanTopics(config), signal));
  }
  return [...findings, ...(await Promise.all(more)).flat()];
}

async function bounded(
  what: string,
  probe: Promise<ProbeFinding[]>,
  signal: AbortSignal,
): Promise<ProbeFinding[]> {
  const failed = (detail: string) => [{ ok: false, what, detail }];
  const thrown = (error: unknown) =>
    error instanceof OperatorError ? [failedProbe(what, error)] : failed(String(error));
  const done = new AbortController();
  const timeout = async () => {
    await systemClock.sleep(deadlineMs, AbortSignal.any([signal, done.signal]));
    return failed(signal.aborted ? 'interrupted' : `no response within ${deadlineMs / 1000} s`);
  };
  try {
    return await Promise.race([timeout(), probe.catch(thrown)]);
  } finally {
    done.abort();
  }
}
