import { fuzzCodecs } from './fuzz-codecs.ts';
import { fuzzDecoder } from './fuzz-decoder.ts';
import { FuzzMessages } from './fuzz-messages.ts';
import { fuzzOtlp } from './fuzz-otlp.ts';
import { fuzzRecords } from './fuzz-records.ts';
import { fuzzSpans } from './fuzz-spans.ts';
import { fuzzSecrets } from './secrets/fuzz-secrets.ts';

/** Messages of a round: a decoder begins with each, as what it has met decides what it compares. */
export const roundMessages = 2_000;
/** One round in so many is for the other codecs. */
const CODEC_ROUNDS = 20;
const REFERENCE_SHARE = 0.03;

/** What a round is of, by the name that `--of` takes. */
const subjects: Readonly<
  Record<string, (messages: FuzzMessages, round: number, seed: number) => Promise<number> | number>
> = {
  timing: (messages, round) =>
    round % CODEC_ROUNDS === 0
      ? fuzzCodecs(messages, roundMessages)
      : fuzzDecoder(messages, roundMessages, REFERENCE_SHARE),
  otlp: (messages) => fuzzOtlp(messages, roundMessages),
  spans: (messages) => fuzzSpans(messages, roundMessages),
  records: (messages) => fuzzRecords(messages, roundMessages),
  secrets: (_messages, _round, seed) => fuzzSecrets(seed, roundMessages),
};

/**
 * Runs one round, which depends on seed, number and subject alone; returns its slowest message's ms.
 *
 * @param subject timing events and codecs, messages of another format, or answers that quote a secret.
 * @default {timing}
 */
export async function fuzzRound(seed: number, round: number, subject = 'timing'): Promise<number> {
  const run = subjects[subject];
  if (run === undefined) throw new Error(`no subject ${subject}: ${Object.keys(subjects)}`);
  const roundSeed = Math.imul(seed, 0x9e3779b1) ^ Math.imul(round + 1, 0x85ebca6b);
  return run(new FuzzMessages(roundSeed), round, roundSeed);
}
