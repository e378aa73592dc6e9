import { exitCodes } from '../base/exit-codes.ts';
import { OperatorError } from '../base/operator-error.ts';

/**
 * What is committed beside an offset, as the offset's metadata (Kafka's limit: 4,096 bytes).
 * With `intent` the offset is the start of a chunk whose storing has begun and may have happened:
 * whoever takes the partition over reads exactly up to `endOffset` first, with the same clock, and
 * stores that under the same token.
 */
export interface CommitNote {
  /** Event time the partition had reached at the offset; undefined before its first event. */
  readonly watermarkMs: number | undefined;
  readonly intent: { readonly endOffset: number; readonly nowMs: number } | undefined;
}

const MAGIC = 'tailmark/1';

/** The note as text. */
export function encodeNote(note: CommitNote): string {
  return JSON.stringify({
    v: MAGIC,
    wm: note.watermarkMs,
    ...(note.intent === undefined ? {} : { end: note.intent.endOffset, now: note.intent.nowMs }),
  });
}

/**
 * The note of a commit, or undefined where the metadata is none of ours (or empty).
 *
 * @throws OperatorError when another version of tailmark wrote it: what it says of a chunk that is
 *   being stored cannot be read, and passing over it could count that chunk twice.
 */
export function decodeNote(metadata: string): CommitNote | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(metadata);
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null || !('v' in parsed)) return undefined;
  if (parsed.v !== MAGIC) return refuseOtherVersion(parsed.v);
  const watermarkMs = 'wm' in parsed && typeof parsed.wm === 'number' ? parsed.wm : undefined;
  if (!('end' in parsed) || !('now' in parsed)) return { watermarkMs, intent: undefined };
  const { end, now } = parsed;
  if (typeof end !== 'number' || !Number.isSafeInteger(end) || typeof now !== 'number') {
    return undefined;
  }
  return { watermarkMs, intent: { endOffset: end, nowMs: now } };
}

function refuseOtherVersion(magic: unknown): undefined {
  if (typeof magic !== 'string' || !magic.startsWith('tailmark/')) return undefined;
  throw new OperatorError(
    'TAILMARK_COMMIT_VERSION',
    `Cannot take over a partition as its commit must be of ${MAGIC}: it is of ${magic}`,
    {
      hint: 'Run the version that wrote it until nothing is pending, or a newer one.',
      exitCode: exitCodes.config,
    },
  );
}
