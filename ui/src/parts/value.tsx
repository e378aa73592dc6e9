import type { ComponentChildren } from 'preact';
import { hollowReason, isHollow } from '../format/number.ts';

interface ValueProps {
  readonly value: number | null | undefined;
  /** Its text for people; "–" of none. */
  readonly as?: (value: number) => string;
  /** The same where a text is not all of it. */
  readonly children?: ComponentChildren;
}

/** A number for people, with the exact one for machines. */
export function Value({ value, as, children }: ValueProps) {
  if (value == null) return <span class="none">{children ?? '–'}</span>;
  return <data value={String(value)}>{children ?? as?.(value)}</data>;
}

interface QuantileProps {
  readonly q: number;
  readonly ms: number | null | undefined;
  /** Requests that the quantile is of. */
  readonly requests: number;
  /** @default 'request' */
  readonly noun?: string;
  readonly children: ComponentChildren;
}

/** A quantile, hollow where too few requests lie beyond it to trust it. */
export function Quantile({ q, ms, requests, noun, children }: QuantileProps) {
  if (ms == null || !isHollow(q, requests)) return <Value value={ms}>{children}</Value>;
  const reason = hollowReason(q, requests, noun);
  return (
    <span class="hollow" title={reason}>
      <data value={String(ms)}>{children}</data>
      <span class="sr"> ({reason})</span>
    </span>
  );
}
