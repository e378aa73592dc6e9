import { afterAll, beforeAll } from 'vitest';
import { Rig, type RigOptions } from './rig.ts';

/**
 * Lends a rig to a test. The data that it leaves must be conserved: every offset tiles, every event is
 * accounted for, and all tables agree with the ledger.
 */
export async function withRig(
  options: RigOptions,
  use: (rig: Rig) => Promise<void>,
): Promise<void> {
  const rig = await Rig.open(options);
  await conserved(rig, () => use(rig));
}

/**
 * A rig that the tests of a file share, as they only read it. Call it at the top of the file; the rig is
 * there inside tests. Its data must be conserved too.
 */
export function useRig(options: RigOptions, prepare: (rig: Rig) => Promise<void>): () => Rig {
  let rig: Rig | undefined;
  beforeAll(async () => {
    // Its tests are skipped.
    if (options.stack.clickhouseUrl === '') return;
    rig = await Rig.open(options);
    await prepare(rig);
  });
  afterAll(async () => {
    if (rig !== undefined) await conserved(rig, async () => undefined);
  });
  return () => {
    if (rig === undefined) throw new Error('the rig is not open');
    return rig;
  };
}

async function conserved(rig: Rig, use: () => Promise<void>): Promise<void> {
  try {
    await use();
    await rig.stopAll();
    await rig.expectVerified({ mayBeEmpty: true });
  } catch (error) {
    process.stderr.write(`${rig.tail()}\n`);
    throw error;
  } finally {
    await rig.close();
  }
}
