import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { run } from '../captured-io.ts';

const folder = mkdtempSync(join(tmpdir(), 'tailmark-backtest-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function backtest(name: string, text: string) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return { path, ...(await run(['backtest', '--input', path])) };
}

const event = JSON.stringify({ ts: 1_790_000_000_000, model: 'm', total_ms: 5 });

it.each([
  ['no line', '', 'it is empty'],
  ['lines of CSV', 'ts,model\n1,m\n', 'none of 2 counts (The event must be JSON'],
  ['lines of other JSON', '{"a":1}\n', 'none of 1 counts (ts must be epoch milliseconds'],
])('backtest of a file with %s fails with the reason', async (name, text, reason) => {
  const { path, exitCode, out, err } = await backtest(name, text);
  expect([exitCode, out]).toEqual([64, '']);
  expect(err).toContain(`Cannot read ${path}: it must hold timing events; ${reason}`);
  expect(err).toContain('TAILMARK_FILE_UNREADABLE');
});

it('backtest of a file with one event among others runs, and counts the others', async () => {
  const { exitCode, out } = await backtest('mixed.ndjson', `${event}\nnonsense\n`);
  expect(exitCode).toBe(0);
  expect(out).toContain('1 event of the file not counted: rejected or late');
});
