import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sectionsOf, withPipelineTables } from '../../scripts/pipeline-table.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const results = read('bench/results/pipeline.txt');

describe('docs/explained/performance.md', () => {
  it('has the tables of the last recorded run (npm run generate:docs)', () => {
    const document = read('docs/explained/performance.md');
    expect(withPipelineTables(document, results)).toBe(document);
  });

  it('has a row for each way, with all of its figures', () => {
    const sections = sectionsOf(results);
    expect(sections.map(({ perMessage }) => perMessage)).toEqual([100, 1]);
    for (const { peers } of sections) {
      expect(peers.length).toBeGreaterThanOrEqual(4);
      for (const { cpu, wall } of peers) {
        expect(cpu).toMatch(/^\d+ k \(\d+ k–\d+ k\)$/);
        expect(wall).toMatch(/^\d+ k \(\d+ k–\d+ k\)$/);
      }
      expect(peers.slice(1).every(({ ratio }) => /^[\d.]+ ×$/.test(ratio))).toBe(true);
    }
  });
});
