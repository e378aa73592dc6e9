import { dayMs } from '../../base/time.ts';
import type { StateArchive } from '../../snapshot/archive.ts';

const retentionDays = 14;

/** Maximum of a value over two weeks, by the day, and the number of values. */
export class DailyMaximum {
  readonly #highest = new Map<number, number>();
  readonly #counts = new Map<number, number>();

  observe(startMs: number, value: number): void {
    const day = Math.floor(startMs / dayMs);
    const count = this.#counts.get(day);
    if (count === undefined) this.#forget(day);
    this.#counts.set(day, (count ?? 0) + 1);
    if (value > (this.#highest.get(day) ?? 0)) this.#highest.set(day, value);
  }

  /** Maximum, or 0 before the first value. */
  get highest(): number {
    return Math.max(0, ...this.#highest.values());
  }

  get count(): number {
    let count = 0;
    for (const each of this.#counts.values()) count += each;
    return count;
  }

  serialize(state: StateArchive): void {
    state.section('daily record', 1, () => {
      for (const byDay of [this.#highest, this.#counts]) {
        const days = state.list(byDay, (entry) => {
          const [day, value] = entry ?? [0, 0];
          return [state.number(day), state.number(value)] as [number, number];
        });
        for (const [day, value] of days) byDay.set(day, value);
      }
    });
  }

  #forget(today: number): void {
    for (const byDay of [this.#highest, this.#counts]) {
      for (const day of byDay.keys()) if (day <= today - retentionDays) byDay.delete(day);
    }
  }
}
