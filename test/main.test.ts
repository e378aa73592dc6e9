// Covers src/cli/program/create-program.ts and src/cli/text/print-error.ts.

import { describe, expect, it } from 'vitest';
import { version } from '../src/base/telemetry/version.ts';
import { commands } from '../src/cli/program/commands.ts';
import { printError } from '../src/cli/text/print-error.ts';
import { capturedIo, run } from './cli/captured-io.ts';

describe('main help', () => {
  it('--help lists every command on standard output and ends with examples', async () => {
    const { exitCode, out, err } = await run(['--help']);
    expect(exitCode).toBe(0);
    expect(err).toBe('');
    for (const { name, summary } of commands) {
      expect(out).toMatch(new RegExp(`^  ${name} `, 'm'));
      expect(out).toContain(summary);
    }
    expect(out.indexOf('Examples:')).toBeGreaterThan(out.indexOf('Commands:'));
  });

  it('-h leaves the examples out', async () => {
    expect((await run(['-h'])).out).toContain('Commands:');
    expect((await run(['-h'])).out).not.toContain('Examples:');
    const short = await run(['check', '-h']);
    expect(short.exitCode).toBe(0);
    expect(short.out).toContain('--connect');
    expect(short.out).not.toContain('Examples:');
  });

  it('help X and X --help are the same', async () => {
    const long = await run(['check', '--help']);
    expect(long.out).toContain('Examples:\n  tailmark check');
    expect((await run(['help', 'check'])).out).toBe(long.out);
  });

  it('without a command prints help to standard error and exits 64', async () => {
    const { exitCode, out, err } = await run([]);
    expect(exitCode).toBe(64);
    expect(out).toBe('');
    expect(err).toContain('Usage: tailmark');
  });

  it('--version prints the version alone', async () => {
    expect(await run(['--version'])).toEqual({ exitCode: 0, out: `${version()}\n`, err: '' });
    expect(version()).toMatch(/^\d+\.\d+\.\d+/);
  });
});

describe('main usage errors', () => {
  it.each([
    [['chek'], "error: unknown command 'chek'\nhint: Did you mean check?\n"],
    [['check', '--conect'], "error: unknown option '--conect'\nhint: Did you mean --connect?\n"],
    [
      ['check', '--config'],
      "error: option '--config <FILE>' argument missing\nhint: Try --help.\n",
    ],
    [
      ['check', 'extra'],
      "error: too many arguments for 'check'. Expected 0 arguments but got 1.\nhint: Try --help.\n",
    ],
  ])('%j exits 64 with a hint', async (argv, err) => {
    expect(await run(argv)).toEqual({ exitCode: 64, out: '', err });
  });

  it('are one line of JSON with --json', async () => {
    const { exitCode, err } = await run(['chek', '--json']);
    expect(exitCode).toBe(64);
    expect(JSON.parse(err)).toEqual({
      error: {
        code: 'TAILMARK_USAGE',
        message: "unknown command 'chek'",
        hint: 'Did you mean check?',
      },
    });
    expect(err.split('\n')).toHaveLength(2);
  });
});

describe('main errors', () => {
  it('of the operator have message, hint and code, and their exit code', async () => {
    const { exitCode, err } = await run(['check', '--config', 'absent.yaml']);
    expect(exitCode).toBe(78);
    expect(err).toMatch(
      /^error: Cannot load .*ENOENT\nhint: .*\ncode: TAILMARK_CONFIG_UNREADABLE\n$/,
    );
  });

  it('of tailmark are 70, without a stack', () => {
    const { io, err } = capturedIo();
    expect(printError(new TypeError('x is undefined'), io, { json: false, debug: false })).toBe(70);
    expect(err()).toMatch(/^error: BUG or unexpected: x is undefined\nhint: .*--log-level debug/);
    expect(err()).toContain('code: TAILMARK_INTERNAL');
    expect(err()).not.toContain('    at ');
  });

  it('have a stack, and that of their cause, at log level debug', () => {
    const { io, err } = capturedIo();
    const error = new Error('outer', { cause: new Error('inner') });
    printError(error, io, { json: false, debug: true });
    expect(err()).toMatch(/Error: outer\n {4}at [\s\S]*caused by: Error: inner\n {4}at /);
  });

  it('contain BUG once, and describe thrown values that are no Error', () => {
    const { io, err } = capturedIo();
    printError(new Error('BUG: odd'), io, { json: false, debug: false });
    printError('text', io, { json: false, debug: false });
    expect(err()).toContain('error: BUG: odd\n');
    expect(err()).toContain('error: BUG or unexpected: text\n');
  });

  it('at --log-level debug or TAILMARK_LOG_LEVEL=debug have a stack', async () => {
    const argv = ['check', '--config', 'absent.yaml'];
    const flagged = await run([...argv, '--log-level=debug']);
    expect(flagged.err).toContain('    at ');
    const named = await run(['--log-level', 'debug', ...argv]);
    expect(named.err).toContain('    at ');
    const env = await run(argv, { env: { TAILMARK_LOG_LEVEL: 'debug' } });
    expect(env.err).toContain('    at ');
    expect((await run(argv)).err).not.toContain('    at ');
  });

  it('are red only where standard error is a terminal and colours are on', async () => {
    const colored = await run(['chek'], { color: true, isErrTty: true });
    expect(colored.err).toContain('\u001b[31m');
    expect((await run(['chek'], { color: true })).err).not.toContain('\u001b');
  });
});
