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
  try {
    await use(rig);
    await rig.stopAll();
    await rig.expectVerified({ mayBeEmpty: true });
  } catch (error) {
    process.stderr.write(`${rig.tail()}\n`);
    throw error;
  } finally {
    await rig.close();
  }
}
