import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { OperatorError } from '../../src/base/operator-error.ts';
import { findClickHouseEngine } from '../../src/local/clickhouse/clickhouse-engine.ts';
import { playDemo } from './kit/play-demo.ts';

const dir = mkdtempSync(join(tmpdir(), 'tailmark-demo-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A PATH of Node alone: no Java, no Maven, no Docker. */
function pathOfNode(): string {
  const programs = join(dir, 'programs');
  mkdirSync(programs);
  symlinkSync(process.execPath, join(programs, 'node'));
  return programs;
}

function hasEngine(): boolean {
  try {
    findClickHouseEngine();
    return true;
  } catch (error) {
    if (error instanceof OperatorError) return false;
    throw error;
  }
}

// It needs none of the servers of this run, so it also runs where they cannot.
it.runIf(hasEngine())('demo --once plays the same story on a machine with Node alone', async () => {
  const messages = await playDemo(join(dir, 'demo'), { PATH: pathOfNode() });
  expect(messages).toContain(
    'Cannot start Kafka: Java 17 or later must be installed; it is not. ' +
      'The demo runs without Kafka: its events go straight into the pipeline.\n' +
      'hint: Install a JDK 17 or later and Maven ',
  );
  expect(messages).not.toContain('Kafka at');
});
