import { readdirSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { documents } from './documents.ts';

const maxBytes = 150_000;
const folder = new URL('../../docs/images/', import.meta.url);
const pages = documents()
  .map(({ text }) => text)
  .join('\n');

describe('images of the documentation', () => {
  it.each(readdirSync(folder))(
    `%s is shown by a page, and has at most ${maxBytes} bytes`,
    (name) => {
      expect(pages).toContain(`images/${name}`);
      expect(statSync(new URL(name, folder)).size).toBeLessThanOrEqual(maxBytes);
    },
  );
});
