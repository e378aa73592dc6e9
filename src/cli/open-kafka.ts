import type { Config } from '../config/schema.ts';
import type { Publisher } from '../kafka/client/publisher.ts';
import type { Io } from './io.ts';
import { resolveConfig } from './load.ts';

/** Resolves the configuration and connects to its cluster; a parameter of commands. */
export type OpenKafka = (
  options: Readonly<Record<string, unknown>>,
  io: Io,
) => Promise<{ readonly config: Config; readonly publisher: Publisher }>;

/** @throws {OperatorError} for the configuration, or when no broker responds */
export const openKafka: OpenKafka = async (options, io) => {
  const config = await resolveConfig(options, io);
  // A command that writes to a file does not load the client.
  const { openKafkaPublisher } = await import('../kafka/client/kafka-publisher.ts');
  return { config, publisher: await openKafkaPublisher(config.kafka) };
};
