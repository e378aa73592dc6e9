import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type { AnomalyOwner } from './anomaly-detector.ts';

/** All detectors of some kinds of anomalies, by the key of a series, a model or an objective. */
export abstract class KeyedDetectors<Detector extends AnomalyOwner = AnomalyOwner> {
  /** Kinds of the anomalies that they open; no other detectors open them. */
  abstract readonly kinds: readonly AnomalyEvent['kind'][];
  protected readonly detectors = new OrderedMap<Detector>();

  protected abstract keyOf(event: AnomalyEvent): string;

  /** Returns the detector of an event, created where needed; undefined where a limit forbids it. */
  protected abstract ofEvent(event: AnomalyEvent): Detector | undefined;

  get size(): number {
    return this.detectors.size;
  }

  /** Keys in the order in which they first occurred. */
  get keys(): Iterable<string> {
    return this.detectors.keys();
  }

  get(key: string): Detector | undefined {
    return this.detectors.get(key);
  }

  has(key: string): boolean {
    return this.detectors.has(key);
  }

  isOpen(key: string): boolean {
    return this.detectors.get(key)?.isOpen === true;
  }

  /** Restores the order of first occurrence after detectors were loaded in any order. */
  putInOrder(keys: readonly string[]): void {
    this.detectors.putInOrder(keys);
  }

  /** As `AnomalyOwner.restore`. */
  restore(event: AnomalyEvent): void {
    this.ofEvent(event)?.restore(event);
  }

  /** As `AnomalyOwner.adopt`. */
  adopt(published: AnomalyEvent): void {
    this.detectors.get(this.keyOf(published))?.adopt(published);
  }

  /** As `AnomalyOwner.reconcile`. @param open the open anomalies of these kinds. */
  reconcile(open: readonly AnomalyEvent[], isPublished: (id: string) => boolean): void {
    const byKey = new Map<string, AnomalyEvent[]>();
    for (const event of open) {
      const key = this.keyOf(event);
      byKey.set(key, [...(byKey.get(key) ?? []), event]);
    }
    for (const [key, detector] of this.detectors) {
      detector.reconcile(byKey.get(key) ?? [], isPublished);
      byKey.delete(key);
    }
    for (const events of byKey.values()) for (const event of events) this.restore(event);
  }
}

/** Map with sorted keys, which are sorted again only after they have changed. */
export class OrderedMap<Value> extends Map<string, Value> {
  #sorted: readonly string[] | undefined;

  override set(key: string, value: Value): this {
    if (!this.has(key)) this.#sorted = undefined;
    return super.set(key, value);
  }

  override delete(key: string): boolean {
    if (this.has(key)) this.#sorted = undefined;
    return super.delete(key);
  }

  override clear(): void {
    this.#sorted = undefined;
    super.clear();
  }

  /** Reorders the entries by `keys`, which includes all of its keys. */
  putInOrder(keys: Iterable<string>): void {
    for (const key of keys) {
      const value = this.get(key);
      if (value === undefined) continue;
      super.delete(key);
      super.set(key, value);
    }
  }

  /** Keys sorted by code units. Later changes of the map do not change the returned array. */
  sortedKeys(): readonly string[] {
    this.#sorted ??= [...this.keys()].sort();
    return this.#sorted;
  }
}
