import type { Config } from '../../config/schema.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type { OutgoingMessage } from '../../kafka/client/publisher.ts';
import type { LocalClickHouse } from '../../local/stack/local-stack.ts';

/** Way of the generated events into the pipeline and of its anomalies out of it, with the servers for it. */
export interface DemoTransport {
  readonly servers: LocalClickHouse;
  /** Addresses of the servers, for people. */
  readonly addresses: string;
  /** Keys of the configuration by which the pipeline uses this transport. */
  readonly settings: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
  /** Standard input of the pipeline. */
  readonly stdin: NodeJS.ReadableStream;
  /** Further commands for whoever explores the demo. */
  readonly commands: readonly string[];
  /** Creates what must exist before the pipeline starts. */
  prepare(config: Config): Promise<void>;
  /** Connects to the running pipeline; calls back with each event of an anomaly, in order, at least once. */
  connect(config: Config, onAnomaly: (event: AnomalyEvent) => void): Promise<DemoConnection>;
}

export interface DemoConnection {
  /** Resolves when more may be sent. */
  send(messages: readonly OutgoingMessage[]): Promise<void>;
  close(): Promise<void>;
}
