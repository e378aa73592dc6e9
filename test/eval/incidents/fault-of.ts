import { type Fault, faultKinds } from '../faults.ts';

/** Makes a fault of a kind, from one window to another, with sharp edges. */
export function faultOf(kind: string, from: number, to: number): Fault {
  const found = faultKinds.find(([name]) => name === kind);
  if (found === undefined) throw new Error(`no kind of fault is called ${kind}`);
  const [, stage, share, factor] = found;
  return { kind, stage, share, from, to, factorAt: () => factor };
}
