import { expect, it } from 'vitest';
import type { Io } from '../../../src/cli/io.ts';
import { openStdout } from '../../../src/cli/traffic/traffic-target.ts';

it('standard output accepts no more than its reader does', async () => {
  const written: string[] = [];
  let drain: () => void = () => undefined;
  const outDrained = () => new Promise<void>((resolve) => (drain = resolve));
  const io = { out: (text: string) => void written.push(text), outDrained } as unknown as Io;
  const target = openStdout(io);
  let isSent = false;
  const sending = target.send([{ key: 'a', value: Buffer.from('{}') }]).then(() => {
    isSent = true;
  });
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect([written, isSent]).toEqual([['{}\n'], false]);
  drain();
  await sending;
});
