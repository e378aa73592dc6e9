import type { Clock } from '../base/clock.ts';
import {
  type Claim,
  ClaimLostError,
  claimName,
  type Source,
  type SourceHandler,
} from './source.ts';

/** Interval at which a held batch asks whether it may go on. */
const ASK_MS = 500;

/** A source whose batches wait while a condition holds them. Their claims are kept alive meanwhile. */
export class HeldSource implements Source {
  readonly #source: Source;
  readonly #isHeld: () => boolean;
  readonly #clock: Pick<Clock, 'sleep'>;
  #isQuiesced = false;

  constructor(source: Source, isHeld: () => boolean, clock: Pick<Clock, 'sleep'>) {
    this.#source = source;
    this.#isHeld = isHeld;
    this.#clock = clock;
  }

  get groupId(): string {
    return this.#source.groupId;
  }

  get done(): Promise<void> {
    return this.#source.done;
  }

  start(handler: SourceHandler): Promise<void> {
    return this.#source.start({
      onClaimed: (claim, found) => handler.onClaimed(claim, found),
      onBatch: async (claim, batch, keepAlive) => {
        await this.#untilFree(claim, keepAlive);
        await handler.onBatch(claim, batch, keepAlive);
      },
      onLost: (claim) => handler.onLost(claim),
      onRevoking: async (claims) => handler.onRevoking?.(claims),
    });
  }

  isPaused(topic: string, partition: number): boolean {
    return this.#source.isPaused?.(topic, partition) ?? false;
  }

  problems(): readonly string[] {
    return this.#source.problems?.() ?? [];
  }

  notes(): readonly string[] {
    return this.#source.notes?.() ?? [];
  }

  quiesce(): void {
    this.#isQuiesced = true;
    this.#source.quiesce();
  }

  stop(): Promise<void> {
    this.#isQuiesced = true;
    return this.#source.stop();
  }

  async #untilFree(claim: Claim, keepAlive: () => Promise<void>): Promise<void> {
    while (this.#isHeld()) {
      // A process that ends drops the batch: it was not counted.
      if (this.#isQuiesced) throw new ClaimLostError(claimName(claim));
      await this.#clock.sleep(ASK_MS);
      await keepAlive();
    }
  }
}
