import { systemClock } from '../../src/base/clock.ts';
import type { Logger } from '../../src/base/telemetry/log.ts';
import { configSchema } from '../../src/config/schema.ts';
import { SchemaRegistry } from '../../src/registry/schema-registry.ts';

/** A client whose waits take no time, and what it has logged, counted and waited. */
export function clientOf(url: string, settings: object = {}, waitsForNew = true) {
  const { schema_registry } = configSchema.parse({ schema_registry: { url, ...settings } });
  const waits: number[] = [];
  const outcomes: string[] = [];
  const lines: string[] = [];
  let elapsedMs = 0;
  const line = (level: string) => (fields: object, text: string) =>
    lines.push(`${level} ${text}: ${(fields as { failure?: string }).failure ?? ''}`);
  const registry = new SchemaRegistry({
    config: { ...schema_registry, url },
    clock: {
      ...systemClock,
      elapsedMs: () => elapsedMs,
      async sleep(ms) {
        waits.push(ms);
        elapsedMs += ms;
        await systemClock.yieldToEventLoop();
      },
    },
    log: { warn: line('warn'), info: line('info') } as unknown as Logger,
    requests: { inc: ({ outcome }) => outcomes.push(outcome) },
    waitsForNew,
  });
  const pass = (ms: number) => {
    elapsedMs += ms;
  };
  return { registry, waits, outcomes, lines, pass };
}
