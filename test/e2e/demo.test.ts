import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { useStack } from '../containers/stack.ts';
import { playDemo } from './kit/play-demo.ts';

const dir = mkdtempSync(join(tmpdir(), 'tailmark-demo-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

// The demo starts its own servers; it is skipped where this machine cannot run them.
const stack = useStack();

it.runIf(stack.kind === 'local')(
  'demo --once finds the regression it injects, blames the stage, resolves, and exits 0',
  async () => {
    const messages = await playDemo(dir, process.env);
    expect(messages).toMatch(/ Kafka at 127\.0\.0\.1:\d+, ClickHouse at /);
  },
);
