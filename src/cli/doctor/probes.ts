import type { ProbeFinding } from '../../base/probe-finding.ts';
import type { Config } from '../../config/schema.ts';

/** Probes of the servers; a parameter of the commands, so that tests can inject any result. */
export interface Probes {
  kafka(config: Config): Promise<ProbeFinding[]>;
  clickhouse(config: Config): Promise<ProbeFinding[]>;
}

/** The real probes. Their clients are loaded only when they are used. */
export const probes: Probes = {
  kafka: async (config) => (await import('../../kafka/client/probe-kafka.ts')).probeKafka(config),
  clickhouse: async (config) =>
    (await import('../../sink/probe-clickhouse.ts')).probeClickHouse(config),
};
