import type { AssembleSettings } from '../../src/assemble/assemble-settings.ts';
import {
  keepingReader,
  type MessageReader,
  type SpanFormat,
  traceReader,
} from '../../src/assemble/event/span-formats.ts';
import { outcomeOf, type TraceOutcome } from '../../src/assemble/event/trace-outcome.ts';
import type { TraceRules } from '../../src/assemble/event/trace-rules.ts';
import { freshStart, TraceAssembler } from '../../src/assemble/trace-assembler.ts';
import type { EventDraft } from '../../src/formats/format-reader.ts';
import { defaultFields } from '../../src/formats/spans/rules/span-fields.ts';
import { fixtureText } from '../convert/conversion.ts';

export const settings: AssembleSettings = {
  waitMs: 30_000,
  maxTraceMs: 300_000,
  lateMemoryMs: 60_000,
  maxOpenTraces: 100_000,
  maxSpansPerTrace: 2_000,
  maxBytes: 64 * 1024 * 1024,
};

/** Stages of the sample pipeline. */
export const pipelineRules: TraceRules = {
  stagesFrom: 'children',
  rootNames: new Set(),
  stageOf: new Map([
    ...['queue', 'parse', 'preprocess', 'forward', 'postprocess'].map((n) => [n, n] as const),
    ['features.get', 'features'],
  ]),
  otherChildren: 'ignore',
  fields: defaultFields,
};

export interface RecordedMessage {
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly key: string | null;
  readonly value: Buffer;
}

/** The records of a topic that lie in a fixture, in the order of their timestamps. */
export function recordedMessages(path: string): RecordedMessage[] {
  const lines = fixtureText(path).trim().split('\n');
  const all = lines.map((line): RecordedMessage => {
    const { value, value_b64: base64, ...record } = JSON.parse(line);
    return {
      ...record,
      value: Buffer.from(base64 ?? value, base64 === undefined ? 'utf8' : 'base64'),
    };
  });
  return all.sort((a, b) => a.timestamp - b.timestamp || a.offset - b.offset);
}

export interface Assembled {
  readonly events: EventDraft[];
  readonly rejected: {
    readonly reason: string;
    readonly detail: string;
    readonly traceId: string;
  }[];
  duplicates: number;
  late: number;
}

/** Assembles messages, as of one partition, and closes what is open at their end. */
export function assembleMessages(
  messages: readonly { readonly value: Buffer; readonly timestamp?: number }[],
  format: SpanFormat | MessageReader,
  rules: TraceRules = pipelineRules,
): Assembled {
  const result: Assembled = { events: [], rejected: [], duplicates: 0, late: 0 };
  const assembler = new TraceAssembler(freshStart(0, settings), settings, {
    closed: (trace) => {
      result.duplicates += trace.duplicates;
      const outcome: TraceOutcome = outcomeOf(trace, rules);
      if ('event' in outcome) result.events.push(withoutUndefined(outcome.event));
      else result.rejected.push({ ...outcome, traceId: trace.traceId });
    },
    late: () => {
      result.late++;
    },
  });
  const read =
    typeof format === 'function' ? keepingReader(format, rules) : traceReader(format, rules);
  messages.forEach(({ value, timestamp = 1 }, offset) => {
    assembler.beginRecord(offset, timestamp);
    let index = 0;
    const problem = read(value, {
      span: (id, span) => assembler.add(id, span, index++),
      malformed: (detail) => {
        throw new Error(detail);
      },
    });
    if (problem !== undefined) throw new Error(problem);
  });
  assembler.tick();
  return result;
}

function withoutUndefined(event: EventDraft): EventDraft {
  return JSON.parse(JSON.stringify(event));
}
