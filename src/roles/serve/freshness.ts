import { systemClock } from '../../base/clock.ts';
import { idleAfterMs, readProgress } from '../../sink/windows/window-progress.ts';
import type { ArrivalLog } from '../detect/completeness/arrival-log.ts';
import type { Completeness, CompletenessProbe } from '../detect/completeness/completeness.ts';
import { LedgerCompleteness } from '../detect/completeness/ledger-completeness.ts';
import { openArrivals, openCompleteness } from '../detect/completeness/open-completeness.ts';
import type { RoleContext } from '../role.ts';

type Context = Pick<RoleContext, 'config' | 'client' | 'groupId'>;

/** Interval of probes once somebody has asked. */
const probeMs = 2_000;

/**
 * The completeness of the stored windows, for who acts on them. Nothing is probed before the first question;
 * from then on every two seconds, as what is complete shows only over time.
 */
export class Freshness {
  readonly #context: Context;
  #arrivals: ArrivalLog | undefined;
  #first: Promise<Completeness> | undefined;
  #latest: Completeness | undefined;
  #isProbing = false;
  #stop: () => void = () => undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  /** The result of the last probe; the first question waits for the first one. */
  async read(): Promise<Completeness> {
    this.#first ??= this.#start();
    const first = await this.#first;
    return this.#latest ?? first;
  }

  stop(): void {
    this.#stop();
    this.#arrivals?.stop();
  }

  async #start(): Promise<Completeness> {
    this.#arrivals = openArrivals(this.#context);
    await this.#arrivals?.start();
    const probe = this.#openProbe();
    this.#stop = systemClock.every(probeMs, () => void this.#update(probe));
    return probe.probe();
  }

  /** One probe at a time: a server that is away may take a minute to say so. */
  async #update(probe: CompletenessProbe): Promise<void> {
    if (this.#isProbing) return;
    this.#isProbing = true;
    try {
      this.#latest = await probe.probe();
    } catch {
      // The last one grows old, and what is old is not acted on.
    }
    this.#isProbing = false;
  }

  #openProbe(): CompletenessProbe {
    const { config, client, groupId } = this.#context;
    if (this.#arrivals !== undefined) return openCompleteness(this.#arrivals, this.#context);
    return new LedgerCompleteness({
      readProgress: () => readProgress(client, groupId),
      nowMs: systemClock.nowMs,
      idleMs: idleAfterMs(config),
    });
  }
}
