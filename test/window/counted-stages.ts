import { facets } from '../../src/base/facets.ts';
import type { DecoderOptions, EventDecoder } from '../../src/decode/event-decoder.ts';
import { stateCentroids } from '../../src/sketch/sketch-pool.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';
import { ChunkAccumulator } from '../../src/window/chunk-accumulator.ts';
import { bounds } from '../decode/outcomes.ts';

/** What a chunk holds of each stage of some messages, all of whose events are good: counts, and a digest. */
export function countedStages(
  open: (options: DecoderOptions) => EventDecoder,
  messages: readonly Buffer[],
  nowMs: number,
) {
  const chunk = new ChunkAccumulator({
    dimensions: ['model'],
    facets: [...facets],
    maxCells: 100,
    allowedLatenessMs: 86_400_000,
    maxFutureMs: 300_000,
    graceMs: 0,
  });
  chunk.begin(Number.NEGATIVE_INFINITY, nowMs);
  const { stages, values } = chunk;
  const decoder = open({ stages, values, maxMessageBytes: 1 << 26, ...bounds });
  for (const message of messages) {
    decoder.decode(message, {
      event: (event) => chunk.add(event),
      reject: (_, reason, detail) => {
        throw new Error(`The test's event must be good: ${reason}, ${detail}`);
      },
      skip: () => undefined,
    });
  }
  const [means, weights] = [new Float64Array(stateCentroids), new Float64Array(stateCentroids)];
  const rows = Array.from({ length: chunk.rows.size }, (_, row) => {
    const n = chunk.sketches.centroids(row, means, weights);
    return {
      stage: stages.text(chunk.rows.stageId(row)),
      model: values.text(chunk.cellDimension(chunk.rows.cell(row), 1)),
      requests: chunk.sketches.requests(row),
      failed: chunk.rows.statusCount(row, 1),
      sumUs: chunk.sketches.sumUs(row),
      minMs: chunk.sketches.minMs(row),
      maxMs: chunk.sketches.maxMs(row),
      digest: TDigest.fromCentroids(means, weights, n),
    };
  });
  return { chunk, decoder, rows };
}
