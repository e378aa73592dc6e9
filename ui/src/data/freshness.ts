import { signal } from '@preact/signals';

/** Up to when windows are stored and evaluated, as of the last response. Null: none is. */
export interface Freshness {
  readonly storedToMs: number | null;
  readonly evaluatedToMs: number | null;
  /** The server's clock, as a browser's may be wrong. */
  readonly serverMs: number;
}

/** Undefined before the first response. */
export const freshness = signal<Freshness | undefined>(undefined);

/** Reads the headers that every answer has, a 304 too. */
export function readFreshness(headers: Headers): void {
  const [stored, evaluated, date] = ['tailmark-stored-to', 'tailmark-evaluated-to', 'date'].map(
    (name) => headers.get(name),
  );
  if (!stored || !evaluated || !date) return;
  const next = {
    storedToMs: stored === 'never' ? null : Date.parse(stored),
    evaluatedToMs: evaluated === 'never' ? null : Date.parse(evaluated),
    serverMs: Date.parse(date),
  };
  if (JSON.stringify(next) !== JSON.stringify(freshness.peek())) freshness.value = next;
}

/** Age from which pages say that they are behind: delays are below half a minute elsewhere. */
const staleMs = 120_000;

/** The reason why a page is not current; undefined where it is. */
export function staleness(
  { storedToMs, evaluatedToMs, serverMs }: Freshness,
  timeText: (ms: number) => string,
): string | undefined {
  if (storedToMs === null) return 'Nothing to show yet: no window of events is complete.';
  if (serverMs - storedToMs > staleMs) {
    return `Numbers end at ${timeText(storedToMs)}: no newer requests are stored. Traffic has stopped, or storing is behind: see Pipeline.`;
  }
  if (evaluatedToMs === null) return 'No detector has evaluated anything: no incident can open.';
  if (serverMs - evaluatedToMs > staleMs) {
    return `Nothing is evaluated since ${timeText(evaluatedToMs)}: no incident opens or ends.`;
  }
  return undefined;
}
