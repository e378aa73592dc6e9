import { configSchema } from '../src/config/schema.ts';
import { chunkSettingsOf } from '../src/ingest/chunk/chunk-settings.ts';
import { emptyBegin, OpenChunk } from '../src/ingest/chunk/open-chunk.ts';
import { ChunkBlock } from '../src/sink/chunks/chunk-block.ts';
import { benchEvents } from './traffic/bench-events.ts';

const config = configSchema.parse({});
const block = new ChunkBlock();
const context = { config, groupId: 'bench', block };
const chunk = new OpenChunk(context, chunkSettingsOf(config), 'bench', 0);
const count = 300_000;
const per = Number(process.argv[2] ?? 1);
const messages = [...benchEvents({ seed: 1, count, eventsPerMessage: per })];
const bytes = messages.reduce((sum, message) => sum + message.length, 0);
process.stderr.write(`${(bytes / count).toFixed(1)} bytes an event\n`);
for (let round = 0; round < 5; round++) {
  chunk.begin(emptyBegin, Date.now() + 1e12);
  const t0 = process.cpuUsage();
  for (let i = 0; i < messages.length; i++)
    chunk.add({ offset: i, timestampMs: 0, value: messages[i] as Buffer });
  const t1 = process.cpuUsage(t0);
  const t2 = process.cpuUsage();
  const { chunk: sealed, letters } = chunk.seal(Date.now());
  const t3 = process.cpuUsage(t2);
  const ms = (t1.user + t1.system) / 1000;
  process.stderr.write(
    `${Math.round(count / ms)} k events/s, seal ${(t3.user + t3.system) / 1000} ms, ${sealed.rows.rowCount} rows, ${sealed.rows.bytes.length} bytes, aggregated ${sealed.aggregated}, letters ${letters.length} ${letters[0]?.detail ?? ''}\n`,
  );
}
