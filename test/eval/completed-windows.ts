import { invariant } from '../../src/base/invariant.ts';
import type { Random } from '../../src/generate/random.ts';
import type { Durations } from './draw-window.ts';

/** Requests of one version in one window. */
export interface VersionDurations {
  readonly version: string;
  readonly durations: Durations;
}

/**
 * Requests that have started and not completed, of all versions and later windows. Most last less than a
 * second.
 */
const mostRunning = 1_000_000;

/**
 * Counts each request in the window of its completion, as ingest does. A request that starts in window w, at
 * a moment drawn uniformly, and lasts T counts in window w + floor(offset + T / windowMs).
 *
 * Memory is that of the running requests, at most `mostRunning`. Costs one draw a request.
 */
export class CompletedWindows {
  readonly #windowMs: number;
  readonly #offsets: Random;
  /** Requests that complete in a later window, by window and version. */
  readonly #running = new Map<number, Map<string, Map<string, number[]>>>();
  #requests = 0;

  /** @param offsets a stream of its own, so that start moments change no duration */
  constructor(windowMs: number, offsets: Random) {
    this.#windowMs = windowMs;
    this.#offsets = offsets;
  }

  /** Requests that have started and not completed. */
  get running(): number {
    return this.#requests;
  }

  /**
   * Adds one window.
   *
   * @param window windows come in order; a skipped one loses the requests that complete in it
   * @param started requests that start in it
   * @returns requests that complete in it, by version: those that started earlier first. A version without
   * any is left out
   */
  complete(window: number, started: readonly VersionDurations[]): VersionDurations[] {
    const completed = this.#running.get(window) ?? new Map<string, Map<string, number[]>>();
    this.#running.delete(window);
    for (const durations of completed.values()) this.#requests -= requestsOf(durations);
    this.#offsets.seek(window, 0);
    for (const { version, durations } of started)
      this.#place(window, version, durations, completed);
    return [...completed].map(([version, durations]) => ({ version, durations }));
  }

  #place(
    window: number,
    version: string,
    durations: Durations,
    completed: Map<string, Map<string, number[]>>,
  ): void {
    const columns = [...durations.values()];
    const requests = requestsOf(durations);
    let here: number[][] | undefined;
    for (let request = 0; request < requests; request++) {
      let totalMs = 0;
      for (const column of columns) totalMs += column[request] as number;
      const later = Math.floor(this.#offsets.uniform() + totalMs / this.#windowMs);
      let to = here;
      if (later > 0) to = columnsIn(this.#runningUntil(window + later), version, durations);
      else if (to === undefined) here = to = columnsIn(completed, version, durations);
      for (let i = 0; i < columns.length; i++) to?.[i]?.push(columns[i]?.[request] as number);
    }
  }

  #runningUntil(window: number): Map<string, Map<string, number[]>> {
    invariant(this.#requests < mostRunning, `more than ${mostRunning} requests run at once`);
    this.#requests++;
    const known = this.#running.get(window);
    if (known !== undefined) return known;
    const made = new Map<string, Map<string, number[]>>();
    this.#running.set(window, made);
    return made;
  }
}

/** Columns of a version's requests, stage by stage. */
function columnsIn(
  versions: Map<string, Map<string, number[]>>,
  version: string,
  durations: Durations,
): number[][] {
  let own = versions.get(version);
  if (own === undefined) {
    own = new Map([...durations.keys()].map((stage) => [stage, []]));
    versions.set(version, own);
  }
  return [...own.values()];
}

/** The same requests, for all versions together. */
export function ofAllVersions(parts: readonly VersionDurations[]): Durations {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first.durations;
  const all = new Map<string, number[]>();
  for (const { durations } of parts) {
    for (const [stage, column] of durations) all.set(stage, [...(all.get(stage) ?? []), ...column]);
  }
  return all;
}

function requestsOf(durations: Durations): number {
  return durations.values().next().value?.length ?? 0;
}
