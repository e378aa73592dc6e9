import { z } from 'zod';
import { parsed } from '../formats/loose-json.ts';
import type { AssembleSettings } from './assemble-settings.ts';
import type { LogClockState } from './log-clock.ts';

/** Something that is not in the log and happens before the record at `offset`. */
export interface Mark {
  readonly offset: number;
  /** The clock moved without a record. */
  readonly tickMs?: number;
  /** Other settings hold from here on. */
  readonly settings?: AssembleSettings;
}

/**
 * Offset at which reading begins again, so that the state at `position` is rebuilt exactly. All traces that
 * closed before `position` have been published.
 */
export interface RestartPoint {
  readonly offset: number;
  readonly clock: LogClockState;
  /** Settings at `offset`. */
  readonly settings: AssembleSettings;
  /** Those after `offset`, up to `position`, in order. */
  readonly marks: readonly Mark[];
  /** Limits other than the wait hold from this offset on: see `TraceAssembler`. */
  readonly limitsFrom: number;
  /** Time at which the clock last saw a limit reached. */
  readonly limitReachedMs: number;
  /** Offset after the last record of which all is published. */
  readonly position: number;
}

/** Metadata of a commit. The committed offset itself is the restart point's. */
export interface Committed {
  readonly restart: RestartPoint;
  readonly logId: string;
  /** Topic of the events; undefined where the version did not say so. */
  readonly output?: string | undefined;
  /** Epoch of the leader that wrote the record before `position`; -1 while unknown. */
  readonly leaderEpoch: number;
}

const NAME = 'tailmark-assemble/1';
const whole = z.number().int();
const settingsSchema = z.tuple([whole, whole, whole, whole, whole, whole]);
const schema = z.object({
  log: z.string(),
  output: z.string().optional(),
  epoch: whole,
  position: whole.min(0),
  clock: z.tuple([z.number(), z.number(), whole]),
  settings: settingsSchema,
  limits: z.tuple([whole, z.number()]),
  /** Offsets since the one before, the first since the committed one. */
  marks: z.array(z.tuple([whole.min(0), z.union([z.number(), settingsSchema])])),
});

/**
 * Encodes the metadata of a commit: `tailmark-assemble/1` and JSON. Numbers that are large, as offsets are,
 * are written as differences.
 */
export function encodeCommitted({ restart, logId, output, leaderEpoch }: Committed): string {
  const { offset, clock, settings, limitsFrom, limitReachedMs, position } = restart;
  let before = offset;
  const marks = restart.marks.map((mark): z.output<typeof schema>['marks'][number] => {
    const since = mark.offset - before;
    before = mark.offset;
    return [since, mark.settings === undefined ? (mark.tickMs ?? 0) : packed(mark.settings)];
  });
  const value: z.output<typeof schema> = {
    log: logId,
    output,
    epoch: leaderEpoch,
    position: position - offset,
    clock: [clock.nowMs, clock.referenceMs, clock.oddRecords],
    settings: packed(settings),
    limits: [limitsFrom - offset, limitReachedMs],
    marks,
  };
  return `${NAME} ${JSON.stringify(value)}`;
}

/** Decodes the metadata of a commit at `offset`; undefined where it is none that this version can go on from. */
export function decodeCommitted(offset: number, metadata: string): Committed | undefined {
  if (!metadata.startsWith(`${NAME} `)) return undefined;
  const { success, data } = schema.safeParse(parsed(metadata.slice(NAME.length + 1)));
  if (!success) return undefined;
  const { clock, limits } = data;
  let before = offset;
  const marks = data.marks.map(([since, what]): Mark => {
    before += since;
    return typeof what === 'number'
      ? { offset: before, tickMs: what }
      : { offset: before, settings: unpacked(what) };
  });
  const restart: RestartPoint = {
    offset,
    clock: { nowMs: clock[0], referenceMs: clock[1], oddRecords: clock[2] },
    settings: unpacked(data.settings),
    marks,
    limitsFrom: offset + limits[0],
    limitReachedMs: limits[1],
    position: offset + data.position,
  };
  return { restart, logId: data.log, output: data.output, leaderEpoch: data.epoch };
}

type Packed = z.output<typeof settingsSchema>;

function packed(settings: AssembleSettings): Packed {
  const { waitMs, maxTraceMs, lateMemoryMs, maxOpenTraces, maxSpansPerTrace, maxBytes } = settings;
  return [waitMs, maxTraceMs, lateMemoryMs, maxOpenTraces, maxSpansPerTrace, maxBytes];
}

function unpacked(values: Packed): AssembleSettings {
  const [waitMs, maxTraceMs, lateMemoryMs, maxOpenTraces, maxSpansPerTrace, maxBytes] = values;
  return { waitMs, maxTraceMs, lateMemoryMs, maxOpenTraces, maxSpansPerTrace, maxBytes };
}
