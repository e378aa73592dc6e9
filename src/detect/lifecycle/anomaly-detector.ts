import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import { AnomalyLifecycle, type OpenClass } from './anomaly-lifecycle.ts';
import type { OpenAnomaly } from './open-anomaly.ts';

/** Owns the open anomalies of a series or model, which another process may have published. */
export type AnomalyOwner = Pick<AnomalyDetector, 'isOpen' | 'restore' | 'adopt' | 'reconcile'>;

/** A detector with one lifecycle: at most one of its anomalies is open. */
export abstract class AnomalyDetector<Open extends OpenAnomaly = OpenAnomaly> {
  protected readonly lifecycle: AnomalyLifecycle<Open>;

  constructor(options: DetectOptions, open: OpenClass<Open>) {
    this.lifecycle = new AnomalyLifecycle(options, open);
  }

  get isOpen(): boolean {
    return this.lifecycle.isOpen;
  }

  /** Restores an open anomaly from its last event, at its start or in the next live step. */
  restore(event: AnomalyEvent): void {
    this.lifecycle.restore(event);
  }

  /** Replaces its own event by the published one, if it is the same revision of the same anomaly. */
  adopt(published: AnomalyEvent): void {
    this.lifecycle.adopt(published);
  }

  /**
   * Reconciles its anomalies with the published ones, which win, after windows without emitted events.
   *
   * @param open last published events of its open anomalies.
   * @param isPublished whether any event of an anomaly was published, by its id.
   */
  reconcile(open: readonly AnomalyEvent[], isPublished: (id: string) => boolean): void {
    if (this.lifecycle.reconcile(open.at(-1), isPublished)) this.discarded();
  }

  /** Called when its anomaly is over in what was published. */
  protected discarded(): void {}
}
