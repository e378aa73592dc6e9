import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import type { Logger } from '../src/base/telemetry/log.ts';
import { configSchema } from '../src/config/schema.ts';
import { type Role, startPipeline } from '../src/pipeline.ts';

/** What a process logs before it reaches a server; none responds. */
async function linesOf(
  roles: readonly Role[],
  assemble: object,
  topics = ['events'],
): Promise<string[]> {
  const lines: string[] = [];
  const log = { info: (_: object, text: string) => lines.push(text) } as unknown as Logger;
  const config = configSchema.parse({
    assemble,
    clickhouse: { url: 'http://127.0.0.1:1' },
    kafka: { brokers: ['127.0.0.1:1'], topics },
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

it('says first that nobody here reads the output, or that a topic is read in two ways', async () => {
  const assemble = { topics: [{ topic: 'spans', format: 'otlp_proto' }], output: 'elsewhere' };
  expect(await linesOf(['assemble', 'ingest'], assemble, ['events', 'spans'])).toEqual([
    'assemble.output is elsewhere, which is none of kafka.topics. Add it to kafka.topics, unless a deployment with another configuration reads it.',
    'kafka.topics holds what assemble.topics holds too: spans. Its requests may count twice, by spans and by traces: take it out of one of the two.',
  ]);
});
