import { tailPlace, tailSlice } from '../../charts/geometry/composition.ts';
import type { SliceRow } from '../../data/answers.ts';
import { shownName } from '../../format/name.ts';
import { boundPrefix, formatMs, hollowReason, isHollow } from '../../format/number.ts';

interface ModelAnswer {
  readonly model: string;
  readonly p99Ms: number | null | undefined;
  /** The p99 is a lower bound. @default {false} */
  readonly isAtLeast?: boolean;
  /** Of the range. */
  readonly requests: number;
  /** What these are. @default 'request' */
  readonly noun?: string;
  readonly p50Ms: number | null | undefined;
  readonly slices: readonly SliceRow[];
  /** Of a model whose events have no total. */
  readonly stagesOnly?: readonly string[];
  /** "last 6 h", or how long it is. */
  readonly range: string;
}

/** "ranker: p99 310 ms in the last 6 h; beyond it, 59 % is queue"; with few requests, how many there are. */
export function modelTitle(answer: ModelAnswer): string {
  const { p50Ms, p99Ms, requests, noun = 'request', slices, range, stagesOnly = [] } = answer;
  const bound = boundPrefix(answer.isAtLeast === true);
  const model = shownName(answer.model);
  if (p99Ms === undefined) return model;
  if (p99Ms === null && stagesOnly.length > 0) {
    return `${model}: no event has a total in ${range}, only stages`;
  }
  if (p99Ms === null) return `${model}: no ${noun}s in ${range}`;
  if (isHollow(0.99, requests)) {
    return `${model}: median ${formatMs(p50Ms)} in ${range}; ${hollowReason(0.99, requests, noun)}`;
  }
  const tail = tailSlice(slices);
  const where = tail && tailPlace(tail);
  const largest = where === undefined ? null : largestPart(tail);
  const made =
    largest === null
      ? ''
      : `; ${where} it, ${partText(largest.share)} is ${shownName(largest.stage)}`;
  return `${model}: p99 ${bound}${formatMs(p99Ms)} in ${range}${made}`;
}

/** The stage with the largest part of the time of a slice. */
export function largestPart(
  slice: SliceRow | undefined,
): { readonly stage: string; readonly share: number } | null {
  const [first] = slice?.parts.toSorted((x, y) => y.mean_ms - x.mean_ms) ?? [];
  if (first === undefined || !slice?.mean_ms) return null;
  return { stage: first.stage, share: first.mean_ms / slice.mean_ms };
}

/** A stage's part of the time of a slice. */
export function partOf(slice: SliceRow | undefined, stage: string) {
  const part = slice?.parts.find((known) => known.stage === stage);
  if (part === undefined || !slice?.mean_ms) return null;
  return { stage, share: part.mean_ms / slice.mean_ms };
}

function partText(share: number): string {
  if (Math.abs(share - 0.5) < 0.02) return 'half';
  return `${Math.round(share * 100)} %`;
}
