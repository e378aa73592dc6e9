import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { mechanisms } from './mechanisms.ts';

const directories = ['src/detect', 'src/baseline', 'kernel'];

function filesIn(directory: string): readonly string[] {
  const root = new URL(`../../../${directory}/`, import.meta.url);
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`);
}

it('no code of the detector names a mechanism', () => {
  // Names of one word are words of the trade.
  const names = mechanisms.map(({ name }) => name).filter((name) => name.includes(' '));
  expect(names.length).toBeGreaterThan(5);
  const files = directories.flatMap(filesIn);
  expect(files.length).toBeGreaterThan(100);
  for (const file of files) {
    const text = readFileSync(file, 'utf8').toLowerCase();
    const found = names.filter((name) => text.includes(name.toLowerCase()));
    expect([file, found]).toEqual([file, []]);
  }
});
