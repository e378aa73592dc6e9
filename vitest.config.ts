import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// Two projects. `unit` needs nothing but Node and computes throughout: it takes every core, where vitest
// would leave one free. `integration` talks to a real Kafka and a real ClickHouse, which its global setup
// starts (or borrows from Docker) once for the whole run. Its tests have topics, groups and databases of
// their own, and wait more than they work: three files at a time. Time limits end what hangs; no test is
// to fail for a busy machine.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/containers/**'],
          testTimeout: 600_000,
          maxWorkers: availableParallelism(),
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/e2e/**/*.test.ts', 'test/containers/**/*.test.ts'],
          globalSetup: ['test/containers/global-setup.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
