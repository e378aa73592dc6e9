import { isUtf8 } from 'node:buffer';
import { sourceKey } from '../source-key.ts';
import { findTs, type TsPlace } from './find-ts.ts';

/** Fields of a recorded line that a replay needs. */
export interface EventLine {
  readonly text: string;
  readonly ts: TsPlace;
  /** Duration of its request in milliseconds: the total, else the sum of the stages, else 0. */
  readonly lastsMs: number;
  /** Key of its source; undefined if it names no model. */
  readonly key: string | undefined;
}

/** Reads a line that is a JSON object with a `ts`; undefined for any other. Never throws. */
export function readEventLine(line: Buffer): EventLine | undefined {
  // Decoding to a string would change invalid UTF-8.
  if (!isUtf8(line)) return undefined;
  const text = line.toString('utf8');
  const event = parseObject(text);
  if (event === undefined) return undefined;
  const ts = findTs(text);
  if (ts === undefined) return undefined;
  const { model, host } = event;
  const lastsMs = lastsMsOf(event);
  if (typeof model !== 'string') return { text, ts, lastsMs, key: undefined };
  return { text, ts, lastsMs, key: sourceKey(model, typeof host === 'string' ? host : '') };
}

function lastsMsOf({ total_ms, stages_ms }: Readonly<Record<string, unknown>>): number {
  if (typeof total_ms === 'number') return Math.max(0, total_ms);
  if (typeof stages_ms !== 'object' || stages_ms === null) return 0;
  let sumMs = 0;
  for (const ms of Object.values(stages_ms)) if (typeof ms === 'number') sumMs += Math.max(0, ms);
  return sumMs;
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return value as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
