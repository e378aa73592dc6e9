import { computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { place } from '../state/place.ts';
import { paramOf } from '../state/url.ts';
import { readFreshness } from './freshness.ts';
import { Poll, type Polled, type PollPorts } from './poll.ts';

/** A panel's state of an answer. */
export interface Answered<Answer> extends Polled<Answer> {
  /** True if `answer` is still that of another question. */
  readonly isLoading: boolean;
  /** Address of the question. */
  readonly path: string | undefined;
}

/** The state of an answer while a component shows it. */
export type Asked<Answer> = ReadonlySignal<Answered<Answer>>;

/** Parameters of a question; undefined values are left out. */
export type Question = Readonly<Record<string, string | number | undefined>>;

/** Names of what has a selection: no page refreshes under it. */
const holders = signal<ReadonlySet<string>>(new Set());
const isVisible = signal(true);

/** True if the page asks for new data. */
export const isAsking = computed(() => isVisible.value && holders.value.size === 0);
export const isHeld = computed(() => holders.value.size > 0);

/** Stops refreshing while something is selected, by the name of what holds it. */
export function hold(holder: string, isHolding: boolean): void {
  if (holders.peek().has(holder) === isHolding) return;
  const next = new Set(holders.peek());
  if (isHolding) next.add(holder);
  else next.delete(holder);
  holders.value = next;
}

const ports: PollPorts = {
  async fetch(path, init) {
    const response = await fetch(path, { ...init, credentials: 'same-origin' });
    readFreshness(response.headers);
    return response;
  },
  nowMs: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

interface Shared {
  readonly poll: Poll<unknown>;
  users: number;
}

/** Polls in use by address: equal questions of several panels are asked once. */
const shared = new Map<string, Shared>();
const all = signal<readonly Poll<unknown>[]>([]);

/** Failure and time of the oldest answer on the page, for its header. */
export const health = computed(() => {
  const states = all.value.map((poll) => poll.state.value);
  const times = states.flatMap(({ asOfMs }) => (asOfMs === undefined ? [] : [asOfMs]));
  return {
    failure: states.find(({ failure }) => failure !== undefined)?.failure,
    asOfMs: times.length > 0 ? Math.min(...times) : undefined,
    needsLogin: states.some(({ failure }) => failure?.status === 401),
  };
});

export function startPolling(): void {
  const look = () => {
    isVisible.value = document.visibilityState === 'visible';
  };
  document.addEventListener('visibilitychange', look);
  look();
  effect(() => {
    for (const poll of all.value) {
      if (isAsking.value) poll.start();
      else poll.stop();
    }
  });
}

/** Asks all questions of the page again, after a login. */
export function askAgain(): void {
  for (const { poll } of shared.values()) poll.refresh();
}

/** The range of the page, as parameters of a question. */
export function rangeParams(): { readonly from: string | undefined; readonly to: string } {
  const { params } = place.value;
  // The server knows where a default range begins: with the first data where that is younger.
  return { from: params.from, to: paramOf(params, 'to') ?? 'now' };
}

/** Address of an endpoint with parameters in a fixed order; undefined values are left out. */
export function questionPath(endpoint: string, params: Question): string {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== '');
  const query = new URLSearchParams(given.map(([key, value]) => [key, String(value)]));
  return `/v1/${endpoint}${given.length > 0 ? `?${query}` : ''}`;
}

/**
 * The answer of an endpoint, asked again every five seconds while a component shows it. While the question
 * changes, the last answer stays with `isLoading`.
 *
 * @param path of `questionPath`; undefined asks nothing yet.
 */
export function useAnswer<Answer>(path: string | undefined): Asked<Answer> {
  const asked = useMemo(() => signal<string | undefined>(undefined), []);
  const last = useRef<Answer | undefined>(undefined);
  useEffect(() => {
    if (path === undefined) return;
    const entry = shared.get(path) ?? { poll: new Poll<unknown>(path, ports), users: 0 };
    entry.users += 1;
    if (entry.users === 1) {
      shared.set(path, entry);
      all.value = [...all.peek(), entry.poll];
    }
    asked.value = path;
    return () => {
      entry.users -= 1;
      if (entry.users > 0) return;
      entry.poll.stop();
      shared.delete(path);
      all.value = all.peek().filter((poll) => poll !== entry.poll);
    };
  }, [path, asked]);
  return useMemo(
    () =>
      computed(() => {
        const at = asked.value;
        const state = at === undefined ? undefined : shared.get(at)?.poll.state.value;
        if (state?.answer !== undefined) last.current = state.answer as Answer;
        const hasFailed = state?.failure !== undefined;
        return {
          answer: (state?.answer as Answer | undefined) ?? (hasFailed ? undefined : last.current),
          asOfMs: state?.asOfMs,
          failure: state?.failure,
          isFinal: state?.isFinal ?? false,
          isLoading: state?.answer === undefined && !hasFailed,
          path: at,
        };
      }),
    [asked],
  );
}
