import type { ProbeFinding } from '../../base/probe-finding.ts';
import type { Config } from '../../config/schema.ts';

/** What looks at the servers; given to the commands, so that they can be shown any outcome. */
export interface Probes {
  kafka(config: Config): Promise<ProbeFinding[]>;
  clickhouse(config: Config): Promise<ProbeFinding[]>;
}

/** The real ones. Their clients are loaded only when a server is to be looked at. */
export const probes: Probes = {
  kafka: async (config) => (await import('../../kafka/client/probe-kafka.ts')).probeKafka(config),
  clickhouse: async (config) =>
    (await import('../../sink/probe-clickhouse.ts')).probeClickHouse(config),
};
