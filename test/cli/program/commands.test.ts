import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderCliReference } from '../../../scripts/docs/render-cli-reference.ts';
import { exitCodes } from '../../../src/base/exit-codes.ts';
import { type ErrorCode, errorCodes } from '../../../src/base/operator-error.ts';
import { commands } from '../../../src/cli/program/commands.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

describe('docs/reference/cli.md', () => {
  it('is current: else run npm run generate:docs', async () => {
    expect(read('docs/reference/cli.md')).toBe(await renderCliReference());
  });

  it('has every command, each with its examples', () => {
    const sections = read('docs/reference/cli.md').split(/^## /m);
    for (const { name } of commands) {
      const section = sections.find((text) => text.startsWith(`tailmark ${name}\n`));
      expect(section, name).toMatch(new RegExp(`Examples:\n  tailmark ${name}`));
    }
  });

  it('has every exit code', () => {
    for (const [name, code] of Object.entries(exitCodes)) {
      expect(read('docs/reference/cli.md')).toContain(`| ${code} | ${name} | `);
    }
  });
});

describe('docs/reference/errors.md', () => {
  const sections = read('docs/reference/errors.md').split(/^## /m).slice(1);

  it('has exactly the error codes, in their order', () => {
    expect(sections.map((section) => section.split('\n', 1)[0])).toEqual(Object.keys(errorCodes));
  });

  it('gives each its exit code, a cause and a fix', () => {
    for (const section of sections) {
      const [, code, exitCode] = /^(TAILMARK_\w+)\n\nExit code (\d+)\. .{20}/.exec(section) ?? [];
      expect(Number(exitCode)).toBe(errorCodes[code as ErrorCode]);
      expect(section).toMatch(/\n\*\*Fix:\*\* .{20}/);
    }
  });
});

describe('commands', () => {
  it('have unique names', () => {
    const names = commands.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
