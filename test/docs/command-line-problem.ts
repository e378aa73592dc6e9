import { createProgram } from '../../src/cli/program/create-program.ts';
import { capturedIo } from '../cli/captured-io.ts';

const answered = new Set(['commander.helpDisplayed', 'commander.help', 'commander.version']);

/** What is wrong with the arguments of `tailmark`, by commander itself; null if nothing is. */
export async function commandLineProblem(argv: readonly string[]): Promise<string | null> {
  try {
    const program = await createProgram(argv, capturedIo().io);
    if (program.target !== program.commander) program.target.action(() => undefined);
    await program.run();
    return null;
  } catch (error) {
    if (answered.has((error as { code?: string }).code ?? '')) return null;
    return (error as Error).message;
  }
}
