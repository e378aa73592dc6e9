import type { Random } from '../../../src/generate/random.ts';
import type { Claim, Source, SourceHandler } from '../../../src/source/source.ts';

/** A source whose commits fail at times before they take effect, or after. */
export class FlakyCommits implements Source {
  readonly #source: Source;
  readonly #random: Random;
  readonly #claims = new WeakMap<Claim, Claim>();
  readonly failures = { before: 0, after: 0 };

  constructor(source: Source, random: Random) {
    this.#source = source;
    this.#random = random;
  }

  get groupId(): string {
    return this.#source.groupId;
  }

  get done(): Promise<void> {
    return this.#source.done;
  }

  start(handler: SourceHandler): Promise<void> {
    return this.#source.start({
      onClaimed: (claim, found) => handler.onClaimed(this.#flaky(claim), found),
      onBatch: (claim, batch, keepAlive) => handler.onBatch(this.#flaky(claim), batch, keepAlive),
      onLost: (claim) => handler.onLost(this.#flaky(claim)),
    });
  }

  quiesce(): void {
    this.#source.quiesce();
  }

  stop(): Promise<void> {
    return this.#source.stop();
  }

  #flaky(claim: Claim): Claim {
    let flaky = this.#claims.get(claim);
    if (flaky === undefined) {
      flaky = {
        topic: claim.topic,
        partition: claim.partition,
        get isLost() {
          return claim.isLost;
        },
        commit: async (offset, metadata) => {
          const drawn = this.#random.uniform();
          if (drawn < 0.2) {
            this.failures.before++;
            throw new Error('the coordinator is loading');
          }
          await claim.commit(offset, metadata);
          if (drawn < 0.4) {
            this.failures.after++;
            throw new Error('the answer was lost');
          }
        },
      };
      this.#claims.set(claim, flaky);
    }
    return flaky;
  }
}
