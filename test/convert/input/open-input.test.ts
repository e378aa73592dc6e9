import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { openInput } from '../../../src/convert/input/open-input.ts';

it.each(['/dev/null', tmpdir()])('%s is refused, as its beginning is read twice', async (path) => {
  await expect(openInput(path, () => undefined)).rejects.toThrow(
    `Cannot read ${path}: it must be a file, and is a pipe, a directory or a device`,
  );
});
