import { type Config, configSchema } from '../../src/config/schema.ts';

/** A configuration of small chunks. */
export function testConfig(ingest: Partial<Config['ingest']> = {}): Config {
  const config = configSchema.parse({
    windows: { dimensions: ['model', 'region', 'cold_start'], allowed_lateness: '1h' },
  });
  return { ...config, ingest: { ...config.ingest, flush_max_events: 12, ...ingest } };
}
