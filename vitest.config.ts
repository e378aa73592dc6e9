import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { javaOptions } from './test/containers/class-archive.ts';

// `unit` needs nothing but Node and computes throughout: it takes every core, where vitest would leave one
// free. `integration` talks to a real Kafka and a real ClickHouse, which its global setup starts (or borrows
// from Docker) once for the whole run. Its tests have topics, groups and databases of their own, and wait too:
// three files at a time. The files of a worker share their imports (no isolation): a minute less. Time limits
// end what hangs; no test is to fail for a busy machine.
//
// `npm test` runs these two. Each has a slow counterpart for `*.slow.test.ts`, which `npm run test:slow` runs.

/** The longest files. They start first: at the end, others could not use the cores beside them. */
const longFiles = [
  ...['verify', 'exactly-once', 'takeover', 'local-stack', 'logins', 'dashboard/context.slow'],
  ...['outage.slow', 'chaos.slow', 'broker-away.slow', 'demo.slow', 'demo-without-java.slow'],
  ...['formats/record-topics.slow', 'quota.slow', 'security-kafka.slow', 'least-privilege.slow'],
].map((name) => `e2e/${name}.test.ts`);

class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) =>
      longFiles.some((name) => moduleId.endsWith(name));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

const slowFiles = 'test/**/*.slow.test.ts';
const integrationFolders = ['test/e2e/**', 'test/containers/**'];

const shared = { isolate: false, testTimeout: 600_000, hookTimeout: 600_000 };
const unit = { ...shared, maxWorkers: availableParallelism() };
const integration = {
  ...shared,
  globalSetup: ['test/containers/global-setup.ts'],
  env: { JAVA_TOOL_OPTIONS: javaOptions },
  maxWorkers: 3,
  sequence: { groupOrder: 1 },
};

export default defineConfig({
  test: {
    sequence: { sequencer: LongFilesFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...integrationFolders, slowFiles],
          ...unit,
        },
      },
      {
        test: {
          name: 'integration',
          include: integrationFolders.map((folder) => `${folder}/*.test.ts`),
          exclude: [slowFiles],
          ...integration,
        },
      },
      {
        test: {
          name: 'slow-unit',
          include: [slowFiles],
          exclude: integrationFolders,
          ...unit,
        },
      },
      {
        test: {
          name: 'slow-integration',
          include: integrationFolders.map((folder) => `${folder}/*.slow.test.ts`),
          ...integration,
        },
      },
    ],
  },
});
