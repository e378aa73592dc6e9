import type { RejectReason } from '../../decode/reject-reasons.ts';
import type { FormatReason } from '../format-reader.ts';

/** The reason why an object is no event: thrown within a compiled mapping, which returns a rejection. */
export class Fault extends Error {
  readonly reason: RejectReason | FormatReason;

  constructor(reason: RejectReason | FormatReason, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

/** Longest part of a value that a message shows. */
const longestShown = 80;

/** Formats a value for a message: one short line. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value) ?? 'missing';
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}
