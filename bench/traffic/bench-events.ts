import { invariant } from '../../src/base/invariant.ts';
import { Random } from '../../src/generate/random.ts';

export interface BenchEventsOptions {
  readonly seed: number | string;
  /** Events in all. */
  readonly count: number;
  /** @default {100} */
  readonly eventsPerMessage?: number;
  /** Time of the first event. @default {1_789_000_000_000} */
  readonly startMs?: number;
  /** How fast `ts` goes on. @default {100_000} */
  readonly eventsPerSecond?: number;
  /** Model and version pairs, at most a million, the names all of one length. @default {20} */
  readonly seriesCount?: number;
}

/** Drawn once and picked from: exponentials would cost more than all the rest. */
const TABLE_SIZE = 65_536;
/** Median in microseconds and sigma of the logarithm, per stage. */
const stageShapes: readonly (readonly [string, number, number])[] = [
  ['ingress', 1_200, 0.35],
  ['queue', 2_400, 0.9],
  ['parse', 800, 0.3],
  ['features', 14_900, 0.5],
  ['preprocess', 3_100, 0.3],
  ['forward', 51_700, 0.25],
  ['postprocess', 2_200, 0.35],
  ['egress', 1_900, 0.35],
];

/**
 * The events of the benches: always the same keys in the same order, eight stages and the total,
 * about 276 bytes each, as NDJSON messages. Written digit by digit into bytes, as a bench should
 * not time its own data; the same seed gives the same bytes. The total is the sum of the stages.
 */
export function* benchEvents(options: BenchEventsOptions): Generator<Buffer, void> {
  const { seed, count, eventsPerMessage = 100, startMs = 1_789_000_000_000 } = options;
  const { eventsPerSecond = 100_000, seriesCount = 20 } = options;
  invariant(seriesCount >= 1 && seriesCount <= 1_000_000, 'bench events of no or too many series');
  const random = new Random(seed);
  const tables = stageShapes.map(([name, median, sigma]) => {
    const draws = random.split(name);
    return Float64Array.from({ length: TABLE_SIZE }, () =>
      Math.min(999_999, Math.max(1, Math.round(draws.lognormal(median, sigma)))),
    );
  });
  const digits = Math.max(3, String(seriesCount >> 1).length);
  const series = Array.from({ length: seriesCount }, (_, n) => Buffer.from(seriesText(n, digits)));
  const keys = stageShapes.map(([name], n) => Buffer.from(`${n === 0 ? '' : ','}"${name}":`));
  const writer = new LineWriter(eventsPerMessage * 512);
  const picks = random.split('picks');
  const micros = new Float64Array(stageShapes.length);
  for (let n = 0; n < count; n++) {
    let totalMicros = 0;
    for (let stage = 0; stage < micros.length; stage++) {
      const table = tables[stage] as Float64Array;
      const drawn = table[picks.uint32() & (TABLE_SIZE - 1)] as number;
      micros[stage] = drawn;
      totalMicros += drawn;
    }
    if (writer.length > 0) writer.byte(NEWLINE);
    writer.bytes(head);
    writer.integer(startMs + Math.floor((n * 1_000) / eventsPerSecond));
    writer.bytes(series[picks.uint32() % seriesCount] as Buffer);
    writer.millis(totalMicros);
    writer.bytes(stagesKey);
    for (let stage = 0; stage < micros.length; stage++) {
      writer.bytes(keys[stage] as Buffer);
      writer.millis(micros[stage] as number);
    }
    writer.bytes(tail);
    if ((n + 1) % eventsPerMessage === 0 || n + 1 === count) yield writer.take();
  }
}

const NEWLINE = 10;
const head = Buffer.from('{"ts":');
const stagesKey = Buffer.from(',"stages_ms":{');
const tail = Buffer.from('}}');

function seriesText(n: number, digits: number): string {
  const model = `bench-recommender-${String(n >> 1).padStart(digits, '0')}`;
  const version = n % 2 === 0 ? '2026-10-15' : '2026-11-01';
  return `,"model":"${model}","version":"${version}","region":"eu-west-1","status":"ok","total_ms":`;
}

/** Writes one message at a time into bytes that it keeps. */
class LineWriter {
  readonly #buffer: Buffer;
  length = 0;

  constructor(capacityBytes: number) {
    this.#buffer = Buffer.allocUnsafe(capacityBytes);
  }

  byte(value: number): void {
    this.#buffer[this.length++] = value;
  }

  bytes(source: Buffer): void {
    // Byte by byte: for pieces this short a call to `copy` costs more.
    const buffer = this.#buffer;
    let at = this.length;
    for (let i = 0; i < source.length; i++) buffer[at++] = source[i] as number;
    this.length = at;
  }

  integer(value: number): void {
    let digits = 1;
    for (let bound = 10; bound <= value; bound *= 10) digits++;
    let rest = value;
    for (let at = this.length + digits - 1; at >= this.length; at--) {
      const next = Math.floor(rest / 10);
      this.#buffer[at] = 48 + (rest - next * 10);
      rest = next;
    }
    this.length += digits;
  }

  /** Microseconds as milliseconds with three decimals. */
  millis(micros: number): void {
    const whole = Math.floor(micros / 1_000);
    const fraction = micros - whole * 1_000;
    this.integer(whole);
    const buffer = this.#buffer;
    buffer[this.length++] = 46;
    buffer[this.length++] = 48 + Math.floor(fraction / 100);
    buffer[this.length++] = 48 + (Math.floor(fraction / 10) % 10);
    buffer[this.length++] = 48 + (fraction % 10);
  }

  /** A copy of what was written; writing starts again. */
  take(): Buffer {
    const message = Buffer.from(this.#buffer.subarray(0, this.length));
    this.length = 0;
    return message;
  }
}
