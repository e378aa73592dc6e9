import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startCpuProfile } from '../../../src/base/telemetry/cpu-profile.ts';

const dir = mkdtempSync(join(tmpdir(), 'tailmark-profile-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function burnForTheProfile(): number {
  let sum = 0;
  // CPU time: on a busy machine this thread, and the one that takes samples, may not run for long.
  const begun = process.cpuUsage();
  while (process.cpuUsage(begun).user < 300_000) {
    for (let n = 0; n < 1e5; n++) sum += Math.sqrt(sum + 1);
  }
  return sum;
}

it('says by function where CPU time went', async () => {
  const path = join(dir, 'run.cpuprofile');
  const end = await startCpuProfile(path);
  expect(burnForTheProfile()).toBeGreaterThan(0);
  await end();
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(path, 'utf8')) as Profiler.Profile;
  const burning = nodes.filter((node) => node.callFrame.functionName === 'burnForTheProfile');
  const hits = burning.reduce((sum, { hitCount = 0 }) => sum + hitCount, 0);
  expect(hits).toBeGreaterThan(0);
  expect(timeDeltas).toHaveLength(samples?.length ?? 0);
});

it('needs a file that can be written, and says so before anything is measured', async () => {
  const path = join(dir, 'absent', 'run.cpuprofile');
  await expect(startCpuProfile(path)).rejects.toMatchObject({
    code: 'TAILMARK_PATH_UNWRITABLE',
    exitCode: 69,
    message: expect.stringContaining(path),
  });
});
