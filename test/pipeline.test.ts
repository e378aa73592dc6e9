import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import type { Logger } from '../src/base/telemetry/log.ts';
import { configSchema } from '../src/config/schema.ts';
import { type Role, startPipeline } from '../src/pipeline.ts';

/** What a process logs before it reaches a server; none responds. */
async function linesOf(roles: readonly Role[], assemble: object): Promise<string[]> {
  const lines: string[] = [];
  const log = { info: (_: object, text: string) => lines.push(text) } as unknown as Logger;
  const config = configSchema.parse({
    assemble,
    clickhouse: { url: 'http://127.0.0.1:1' },
    kafka: { brokers: ['127.0.0.1:1'] },
  });
  const starting = startPipeline(config, { roles, log, stdin: Readable.from([]) });
  await expect(starting).rejects.toMatchObject({ code: 'TAILMARK_CLICKHOUSE_UNREACHABLE' });
  return lines;
}

it('says first that topics of spans are configured and nobody here assembles them', async () => {
  const assemble = { topics: [{ topic: 'spans', format: 'otlp_proto' }] };
  expect(await linesOf(['ingest', 'detect', 'serve'], assemble)).toEqual([
    'assemble.topics is set and this process does not assemble. Start one with --roles assemble: without it spans give no events.',
  ]);
  expect(await linesOf(['assemble', 'ingest'], assemble)).toEqual([]);
  expect(await linesOf(['ingest'], {})).toEqual([]);
});
