import { coldStartIndex, dimensions } from '../../src/base/dimensions.ts';
import { amountFacets } from '../../src/base/facets.ts';
import { statuses } from '../../src/base/statuses.ts';
import { decodeContext, decodeEvent } from '../../src/decode/decode-event.ts';
import { DecodedEvent } from '../../src/decode/decoded-event.ts';
import { Interner } from '../../src/decode/interner.ts';
import { MessageDecoder } from '../../src/decode/message/message-decoder.ts';
import type { ConfiguredNames } from '../../src/series/own-attributes.ts';

export const bounds = { maxDurationMs: 3_600_000, maxDimensionBytes: 256 };

/** What became of one event: all that its record says, as texts, or why it was rejected. */
export type Outcome =
  | { readonly event: Readonly<Record<string, unknown>> }
  | {
      readonly reason: string;
      readonly index: number;
      readonly start: number;
      readonly end: number;
    };

/** Everything a record holds, with the texts in place of the ids. */
export function textsOf(
  record: DecodedEvent,
  stages: Interner,
  values: Interner,
  facetCount = 0,
): Outcome {
  const event: Record<string, unknown> = {
    tsMs: record.tsMs,
    status: statuses[record.status],
    totalMs: record.totalMs,
    ...(Number.isNaN(record.totalMs) && { leastMs: record.leastMs }),
    ...Object.fromEntries(amountFacets.map((facet, i) => [facet, record.amounts[i]])),
    weight: record.weight,
    gapsMs: [...record.gapsMs.subarray(0, record.gapCount)],
    cacheHit: record.cacheHit,
    longTexts: record.longTexts,
    traceId: record.traceId(),
    requestId: record.requestId(),
  };
  dimensions.forEach((name, i) => {
    const id = record.dimensionIds[i] as number;
    event[name] = i === coldStartIndex ? id : values.text(id);
  });
  event.attributes = values.text(record.attributesId);
  event.ownFacets = [...record.attributeFacetIds.subarray(0, facetCount)].map((id) =>
    values.text(id),
  );
  event.stages = Array.from({ length: record.stageCount }, (_, i) => [
    stages.text(record.stageIds[i] as number),
    record.stageMs[i],
  ]);
  return { event };
}

export interface TestDecoderOptions {
  readonly stageCapacity?: number;
  readonly valueCapacity?: number;
  readonly maxMessageBytes?: number;
  /** null: no event is read in WebAssembly. */
  readonly kernel?: null;
  /** Configured dimensions and facets. */
  readonly names?: ConfiguredNames;
}

/** A decoder with its interners, and a sink that keeps everything. */
export function testDecoder(options: TestDecoderOptions = {}) {
  const { stageCapacity = 256, valueCapacity = 100_000, maxMessageBytes = 16 << 20 } = options;
  const kernel = options.kernel === null ? { kernel: null } : {};
  const stages = new Interner(stageCapacity);
  const values = new Interner(valueCapacity);
  const { names = {} } = options;
  const facetCount = names.facets?.length ?? 0;
  const limits = { maxMessageBytes, ...bounds, ...names };
  const decoder = new MessageDecoder({ stages, values, ...limits, ...kernel });
  const decode = (message: Buffer | string | null) => {
    const outcomes: Outcome[] = [];
    const details: string[] = [];
    const bytes = typeof message === 'string' ? Buffer.from(message) : message;
    const count = decoder.decode(bytes, {
      event: (record) => outcomes.push(textsOf(record, stages, values, facetCount)),
      reject: (index, reason, detail, start, end) => {
        outcomes.push({ reason, index, start, end });
        details.push(detail);
      },
      skip: () => undefined,
    });
    return { outcomes, details, count };
  };
  return { decoder, stages, values, decode };
}

/** One event by the general path alone. */
export function generalPath() {
  const stages = new Interner(10_000);
  const values = new Interner(1_000_000);
  const context = decodeContext({ ...bounds, stages, values });
  const record = new DecodedEvent();
  return (bytes: Buffer, start: number, end: number, index: number): Outcome => {
    const rejection = decodeEvent(bytes, start, end, context, record);
    if (rejection !== undefined) return { reason: rejection.reason, index, start, end };
    return textsOf(record, stages, values);
  };
}
