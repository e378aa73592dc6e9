import type { Detector } from '../../src/detect/detector.ts';
import { sharedPart } from '../../src/detect/state-parts.ts';

/** Loads a snapshot of which all parts are in memory. */
export function loadState(detector: Detector, parts: ReadonlyMap<string, Buffer>): void {
  const loading = detector.beginLoad(parts.get(sharedPart) ?? Buffer.alloc(0));
  for (const [name, bytes] of parts) if (name !== sharedPart) loading.load({ name, bytes });
  loading.end();
}
