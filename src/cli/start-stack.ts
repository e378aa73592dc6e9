import type { LocalProgress } from '../local/local-progress.ts';
import {
  type LocalClickHouse,
  type LocalStack,
  type LocalStackOptions,
  startLocalClickHouse,
  startLocalStack,
} from '../local/stack/local-stack.ts';
import type { Io } from './io.ts';

const names = { clickhouse: 'ClickHouse', kafka: 'Kafka' } as const;
const redrawMs = 100;
/** A log or a pipe gets a line for each change of state, and one at this interval during a long download. */
const repeatMs = 5_000;

/** Starts the local stack, and shows its progress on standard error. @throws as `startLocalStack` */
export function startStack(options: LocalStackOptions, io: Io): Promise<LocalStack> {
  return withProgress(startLocalStack, options, io);
}

/** Starts ClickHouse alone, and shows its progress. @throws as `startLocalClickHouse` */
export function startClickHouseAlone(options: LocalStackOptions, io: Io): Promise<LocalClickHouse> {
  return withProgress(startLocalClickHouse, options, io);
}

function withProgress<Servers>(
  start: (options: LocalStackOptions) => Promise<Servers>,
  options: LocalStackOptions,
  io: Io,
): Promise<Servers> {
  const { env, signal } = io;
  const progress = new ProgressLines(io);
  const onProgress = (step: LocalProgress) => progress.show(step);
  return start({ ...options, env, signal, onProgress }).finally(() => progress.end());
}

/** One redrawn line on a terminal, lines elsewhere. */
class ProgressLines {
  readonly #io: Io;
  readonly #latest = new Map<LocalProgress['part'], LocalProgress>();
  readonly #shownMs = new Map<LocalProgress['part'], number>();
  #drawnMs = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  constructor(io: Io) {
    this.#io = io;
  }

  show(step: LocalProgress): void {
    const before = this.#latest.get(step.part);
    this.#latest.set(step.part, step);
    const isNewState = before?.state !== step.state;
    const nowMs = performance.now();
    if (this.#io.isErrTty) {
      if (!isNewState && nowMs - this.#drawnMs < redrawMs) return;
      this.#drawnMs = nowMs;
      this.#draw();
      return;
    }
    const shownMs = this.#shownMs.get(step.part) ?? Number.NEGATIVE_INFINITY;
    const isRepeat = step.state === 'fetching' && !isNewState;
    if (isRepeat && nowMs - shownMs < repeatMs) return;
    this.#shownMs.set(step.part, nowMs);
    this.#io.err(`${names[step.part]}: ${step.text}\n`);
  }

  /** Ends the redrawn line, so that later text starts on a new one. */
  end(): void {
    if (!this.#isDrawn) return;
    this.#draw();
    this.#io.err('\n');
    this.#isDrawn = false;
  }

  #draw(): void {
    this.#isDrawn = true;
    const texts = Object.entries(names).flatMap(([part, name]) => {
      const step = this.#latest.get(part as LocalProgress['part']);
      return step === undefined ? [] : [`${name}: ${step.text}`];
    });
    // Moves to the first column, writes the text, and erases the rest of a longer one.
    this.#io.err(`\r${texts.join('   ')}\u001b[K`);
  }
}
