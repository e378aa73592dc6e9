import { fuzzCodecs } from './fuzz-codecs.ts';
import { fuzzDecoder } from './fuzz-decoder.ts';
import { FuzzMessages } from './fuzz-messages.ts';

/** Messages of a round: a decoder begins with each, as what it has met decides what it compares. */
export const roundMessages = 2_000;
/** One round in so many is for the other codecs. */
const CODEC_ROUNDS = 20;
const REFERENCE_SHARE = 0.03;

/** Runs one round, which depends on seed and number alone; returns its slowest message's ms. */
export async function fuzzRound(seed: number, round: number): Promise<number> {
  const messages = new FuzzMessages(Math.imul(seed, 0x9e3779b1) ^ Math.imul(round + 1, 0x85ebca6b));
  return round % CODEC_ROUNDS === 0
    ? fuzzCodecs(messages, roundMessages)
    : fuzzDecoder(messages, roundMessages, REFERENCE_SHARE);
}
