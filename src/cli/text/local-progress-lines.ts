import type { LocalProgress } from '../../local/local-progress.ts';
import type { Io } from '../io.ts';

const names = { clickhouse: 'ClickHouse', kafka: 'Kafka' } as const;
const redrawMs = 100;
/** A log or a pipe gets a line for each change of state, and one at this interval during a long download. */
const repeatMs = 5_000;

/**
 * Shows the progress of the local stack on standard error: one redrawn line on a terminal, lines elsewhere.
 */
export class LocalProgressLines {
  readonly #io: Io;
  readonly #nowMs: () => number;
  readonly #latest = new Map<LocalProgress['part'], LocalProgress>();
  readonly #shownMs = new Map<LocalProgress['part'], number>();
  #drawnMs = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  constructor(io: Io, nowMs: () => number = () => performance.now()) {
    this.#io = io;
    this.#nowMs = nowMs;
  }

  show(step: LocalProgress): void {
    const before = this.#latest.get(step.part);
    this.#latest.set(step.part, step);
    const isNewState = before?.state !== step.state;
    const nowMs = this.#nowMs();
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
