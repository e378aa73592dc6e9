import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type { Config } from '../config/schema.ts';
import { type RegistryCounter, SchemaRegistry } from '../registry/schema-registry.ts';

export interface RegistryContext {
  readonly clock: Clock;
  readonly log: Logger;
  readonly requests: RegistryCounter;
  readonly waitsForNew: boolean;
}

/** Opens the registry of the configuration; undefined where it has none. Sends nothing yet. */
export function openRegistry(
  { schema_registry: { url, ...rest } }: Pick<Config, 'schema_registry'>,
  context: RegistryContext,
): SchemaRegistry | undefined {
  return url === undefined
    ? undefined
    : new SchemaRegistry({ config: { url, ...rest }, ...context });
}
