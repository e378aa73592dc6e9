import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const { groups } = parse(read('deploy/prometheus-rules.yaml')) as {
  groups: readonly { readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);

/** Labels of each metric, by its name. */
const labelsOf = new Map(
  createMetrics()
    .registry.getMetricsAsArray()
    .map((metric) => {
      const labelNames: unknown = Reflect.get(metric, 'labelNames');
      return [metric.name, Array.isArray(labelNames) ? labelNames.map(String) : []] as const;
    }),
);

const words = (text: string) => text.split(',').map((word) => word.trim());

describe('the Prometheus rules', () => {
  it.each(rules)('$alert asks for metrics and labels that there are', ({ expr, annotations }) => {
    const metrics = [...expr.matchAll(/(tailmark_\w+)(?:\{([^}]*)\})?/g)];
    expect(metrics.length).toBeGreaterThan(0);
    const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => words(list));
    const shown = Object.values(annotations).flatMap((text) =>
      [...text.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label),
    );
    for (const label of shown) expect(grouped).toContain(label);
    for (const [, name = '', selectors = ''] of metrics) {
      const labels = labelsOf.get(name);
      expect([name, labels === undefined]).toEqual([name, false]);
      const selected = [...selectors.matchAll(/(\w+)\s*=/g)].map(([, label = '']) => label);
      expect(labels).toEqual(expect.arrayContaining([...grouped, ...selected]));
    }
    // Counters are asked how much they grew, or for what they began with; gauges what they are.
    const grown =
      /(?<=\b(?:rate|increase)\()tailmark_\w+_total\b(?:\{[^}]*\})?(?=\[\d+[mh]\]\))|(tailmark_\w+_total) unless \1 offset 1h/g;
    const names = (text: string) => text.match(/tailmark_\w+_total\b/g)?.length ?? 0;
    expect(names((expr.match(grown) ?? []).join(' '))).toBe(names(expr));
    expect(expr.match(/\(/g)?.length).toBe(expr.match(/\)/g)?.length);
  });

  it.each(rules)('$alert says what to do on a page of the docs', ({ alert }) => {
    const pages = ['operate', 'troubleshoot', 'alerts'].map((page) =>
      read(`docs/how-to/${page}.md`),
    );
    expect(pages.some((page) => page.includes(`\`${alert}\``))).toBe(true);
  });
});
