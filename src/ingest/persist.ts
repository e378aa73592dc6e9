import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/failure.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type { Metrics } from '../base/telemetry/metrics.ts';
import type { Config } from '../config/schema.ts';
import { errorCodeOf } from '../sink/client/clickhouse.ts';
import { LastingError } from '../sink/client/lasting-error.ts';
import { type Claim, ClaimLostError } from '../source/source.ts';

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

export interface PersistContext {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * Retries a step until it succeeds, with pauses from 100 ms doubling to 5 s.
 *
 * @throws ClaimLostError when the claim is lost before.
 * @throws OperatorError when the step has failed for 30 s by what a retry does not mend (`LastingError`).
 */
export async function persist(
  name: string,
  claim: Claim,
  range: { readonly startOffset: number; readonly endOffset: number },
  action: () => Promise<void>,
  context: PersistContext,
): Promise<void> {
  const lasting = new LastingError(context.config.clickhouse, 'store what was read');
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)) {
    if (claim.isLost) throw new ClaimLostError(`${claim.topic}/${claim.partition}`);
    try {
      await action();
      return;
    } catch (error) {
      if (error instanceof ClaimLostError) throw error;
      const code = errorCodeOf(error);
      context.metrics.sinkErrors.inc({ code: code === '' ? 'unknown' : code });
      context.log.warn(
        {
          step: name,
          topic: claim.topic,
          partition: claim.partition,
          start_offset: range.startOffset,
          end_offset: range.endOffset,
          code,
          err: messageOf(error),
          retry_ms: retryMs,
        },
        'a step of storing a chunk failed; retrying',
      );
      const last = lasting.failed(error, context.clock.elapsedMs());
      if (last !== undefined) throw last;
      await context.clock.sleep(retryMs);
    }
  }
}
