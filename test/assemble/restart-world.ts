import { type AssembleSettings, areSame } from '../../src/assemble/assemble-settings.ts';
import {
  type Committed,
  decodeCommitted,
  encodeCommitted,
  type Mark,
} from '../../src/assemble/restart-point.ts';
import type { TraceSpan } from '../../src/assemble/trace.ts';
import { freshStart, TraceAssembler, type TraceSink } from '../../src/assemble/trace-assembler.ts';
import type { Random } from '../../src/generate/random.ts';

/** Bytes of metadata that Kafka takes (`offset.metadata.max.bytes`). */
const MAX_METADATA_BYTES = 4096;

export interface LogRecord {
  readonly offset: number;
  readonly timestampMs: number;
  readonly spans: readonly { readonly traceId: string; readonly spanId: number }[];
}

/** A whole number from 0 on that is less than `end`. */
export const below = (random: Random, end: number): number => Math.floor(random.uniform() * end);

export const spanOf = (idLow: number): TraceSpan => ({
  ...{ idHigh: 0, idLow, parentHigh: 0, parentLow: 0, name: 'a', service: '', isShared: false },
  ...{ endIsSet: true, durationMs: 1, fields: undefined, full: undefined, bytes: 100 },
});

/** Writes what comes out of an assembler as lines. */
export function lineSink(lines: string[]): TraceSink {
  return {
    closed: ({ traceId, offset, spans, spansLeftOut, duplicates, cause }) => {
      const ids = spans.map(({ idLow }) => idLow).join(' ');
      lines.push(`${traceId} @${offset} ${cause} [${ids}] ${spansLeftOut} ${duplicates}`);
    },
    late: (traceId, { idLow }, offset) => lines.push(`${traceId} late ${idLow} @${offset}`),
  };
}

export function feed(assembler: TraceAssembler, record: LogRecord): void {
  assembler.beginRecord(record.offset, record.timestampMs);
  record.spans.forEach(({ traceId, spanId }, index) => {
    assembler.add(traceId, spanOf(spanId), index);
  });
}

/** What a log would give that is read once, with the marks that were committed. */
export function linesOfOneRun(
  log: readonly LogRecord[],
  end: number,
  settings: AssembleSettings,
  marks: readonly Mark[],
): string[] {
  const lines: string[] = [];
  const restart = { ...freshStart(0, settings), marks };
  const assembler = new TraceAssembler(restart, settings, lineSink(lines));
  for (const record of log) if (record.offset < end) feed(assembler, record);
  assembler.advanceTo(end);
  return lines;
}

/** A log of few trace ids, of which some come again and again, with pauses and clocks that are wrong. */
export function drawLog(random: Random, length: number): LogRecord[] {
  const log: LogRecord[] = [];
  const ids = 2 + below(random, 40);
  const stepMs = [50, 300, 900, 2_500][below(random, 4)] ?? 300;
  const trickle = random.chance(0.5);
  const oddShare = random.chance(0.3) ? 0.05 : 0;
  let offset = 0;
  let timeMs = 1_000_000;
  let sent = 0;
  let span = 1;
  while (log.length < length) {
    timeMs += below(random, stepMs);
    if (random.chance(0.01)) timeMs += below(random, 200_000);
    if (random.chance(0.02)) offset += below(random, 5);
    const spans = Array.from({ length: below(random, 4) }, () => {
      if (random.chance(0.1)) sent += 1 + below(random, 3);
      const isTrickle = trickle && random.chance(0.1);
      const short = isTrickle ? 'always' : `t${(sent + below(random, ids)) % 200}`;
      const spanId = random.chance(0.1) ? span : ++span;
      // Of one trace some services know 32 digits of its id, and some the last 16.
      return { traceId: span % 3 === 0 ? `1${short.padStart(16, '0')}` : short, spanId };
    });
    const isOdd = random.uniform() < oddShare;
    const jitterMs = isOdd ? 1e9 * (random.uniform() - 0.5) : -below(random, 2 * stepMs);
    log.push({ offset: offset++, timestampMs: Math.round(timeMs + jitterMs), spans });
  }
  return log;
}

function drawSettings(random: Random): AssembleSettings {
  const waitMs = 1_000 + below(random, 4_000);
  const isTight = random.chance(0.5);
  return {
    waitMs,
    lateMemoryMs: waitMs + below(random, 5_000),
    maxTraceMs: isTight ? waitMs + below(random, 10_000) : 1_000_000,
    maxOpenTraces: isTight ? 1 + below(random, 30) : 1_000,
    maxSpansPerTrace: 1 + below(random, 10),
    maxBytes: isTight ? 500 + below(random, 5_000) : 1_000_000,
  };
}

/**
 * Reads a drawn log by processes that die anywhere, and compares what they have committed with one run.
 *
 * @returns what differs; undefined where nothing does.
 */
export function restartProblem(random: Random): string | undefined {
  const log = drawLog(random, 50 + below(random, 1_500));
  const firstSettings = drawSettings(random);
  let settings = firstSettings;
  const marks: Mark[] = [];
  const published: string[] = [];
  let stored: { offset: number; metadata: string } | undefined;
  const changes = random.chance(0.3);
  const deaths = 1 + below(random, 12);
  let end = 0;
  for (let life = 0; life <= deaths; life++) {
    const committed: Committed | undefined =
      stored && decodeCommitted(stored.offset, stored.metadata);
    if (stored !== undefined && committed === undefined) return `cannot read ${stored.metadata}`;
    const restart = committed?.restart ?? freshStart(0, settings);
    const pending: string[] = [];
    const pendingMarks: Mark[] = [];
    if (life > 0 && changes && random.chance(0.3)) settings = drawSettings(random);
    const changed = restart.marks.findLast((mark) => mark.settings !== undefined);
    if (!areSame(changed?.settings ?? restart.settings, settings)) {
      pendingMarks.push({ offset: restart.position, settings });
    }
    const assembler = new TraceAssembler(restart, settings, lineSink(pending));
    const from = log.findIndex(({ offset }) => offset >= restart.offset);
    const lastLife = life === deaths;
    const dieAt = lastLife ? log.length : Math.max(0, from) + below(random, log.length);
    for (let at = from < 0 ? log.length : from; at < Math.min(dieAt, log.length); at++) {
      const record = log[at] as LogRecord;
      feed(assembler, record);
      if (assembler.isRebuilding) continue;
      if (random.chance(0.01) && assembler.tickAfterMs !== undefined) {
        const before = assembler.nowMs;
        assembler.tick();
        pendingMarks.push({ offset: assembler.position, tickMs: assembler.nowMs - before });
      }
      if (random.chance(0.1) || (lastLife && at === log.length - 1)) {
        const point = assembler.restartPoint();
        const metadata = encodeCommitted({ restart: point, logId: 'c/t', leaderEpoch: 3 });
        if (metadata.length > MAX_METADATA_BYTES) return `metadata has ${metadata.length} bytes`;
        stored = { offset: point.offset, metadata };
        published.push(...pending.splice(0));
        marks.push(...pendingMarks.splice(0));
        end = point.position;
      }
    }
  }
  const expected = linesOfOneRun(log, end, firstSettings, marks);
  const differs = expected.findIndex((line, i) => line !== published[i]);
  if (differs < 0 && expected.length === published.length) return undefined;
  const at = differs < 0 ? expected.length : differs;
  return `line ${at} of ${expected.length}/${published.length}: ${expected[at]} | ${published[at]}`;
}
