import { type Fault, faultKinds } from '../faults.ts';

/** A fault of a kind, from one window to another. It begins and ends at once. */
export function faultOf(kind: string, from: number, to: number): Fault {
  const found = faultKinds.find(([name]) => name === kind);
  if (found === undefined) throw new Error(`no kind of fault is called ${kind}`);
  const [, stage, share, factor] = found;
  return { kind, stage, share, from, to, factorAt: () => factor };
}
