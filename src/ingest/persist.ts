import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/failure.ts';
import { retry } from '../base/retry.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type { Metrics } from '../base/telemetry/metrics.ts';
import type { Config } from '../config/schema.ts';
import { errorCodeOf } from '../sink/client/clickhouse.ts';
import { LastingError } from '../sink/client/lasting-error.ts';
import { type Claim, ClaimLostError, claimName } from '../source/source.ts';

const RETRY_MS = { firstMs: 100, longestMs: 5_000 };

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
  const { clock, log, metrics } = context;
  const lasting = new LastingError(context.config.clickhouse, 'store what was read');
  const done = async () => {
    await action();
    return true;
  };
  const isDone = await retry(done, {
    ...{ clock, ...RETRY_MS },
    isOver: () => claim.isLost,
    onError: (error, waitMs) => {
      if (error instanceof ClaimLostError) throw error;
      const code = errorCodeOf(error);
      metrics.sinkErrors.inc({ code: code === '' ? 'unknown' : code });
      log.warn(
        {
          step: name,
          topic: claim.topic,
          partition: claim.partition,
          start_offset: range.startOffset,
          end_offset: range.endOffset,
          code,
          err: messageOf(error),
          retry_ms: waitMs,
        },
        'a step of storing a chunk failed; retrying',
      );
      const last = lasting.failed(error, clock.elapsedMs());
      if (last !== undefined) throw last;
    },
  });
  if (isDone === undefined) throw new ClaimLostError(claimName(claim));
}
