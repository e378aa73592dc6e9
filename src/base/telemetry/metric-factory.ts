import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Registers metrics whose names begin with `tailmark_`. */
export class MetricFactory {
  readonly #registers: Registry[];

  constructor(registry: Registry) {
    this.#registers = [registry];
  }

  counter<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
    return new Counter<L>({ ...this.#named(name, help), labelNames: [...labelNames] });
  }

  /**
   * @param aggregator how the values of several threads are combined.
   * @param collect sets it whenever it is read.
   */
  gauge<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    aggregator: 'sum' | 'max' = 'sum',
    collect?: (gauge: Gauge<L>) => void,
  ): Gauge<L> {
    const gauge: Gauge<L> = new Gauge<L>({
      ...this.#named(name, help),
      labelNames: [...labelNames],
      aggregator,
      ...(collect === undefined ? {} : { collect: () => collect(gauge) }),
    });
    return gauge;
  }

  /** A gauge of one measurement: it has no value before the first. */
  measurement(name: string, help: string, aggregator: 'sum' | 'max'): Gauge {
    const gauge = this.gauge(name, help, [], aggregator);
    gauge.remove();
    return gauge;
  }

  histogram<L extends string>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly L[] = [],
  ): Histogram<L> {
    return new Histogram<L>({
      ...this.#named(name, help),
      buckets: [...buckets],
      labelNames: [...labelNames],
    });
  }

  #named(name: string, help: string) {
    return { name: `tailmark_${name}`, help, registers: this.#registers };
  }
}
