import { limits } from '../base/limits.ts';
import { toNanosecond } from './span.ts';

/** Stage of the models beyond those that an event may name. */
const OTHER = 'other_models';
const MAX_NAME = 64;

/** From and to, in one unit of one clock. */
export type Interval = readonly [from: number, to: number];

/**
 * Stages of a request that runs models within models: the model asked for has the plain names, those that it
 * calls theirs with the model before it. A model that runs several times has the sum.
 */
export class ModelStages {
  readonly ms: Record<string, number> = {};

  /** @param model undefined for the model that was asked for. */
  add(model: string | undefined, stage: string, ms: number): void {
    // Times of one clock that go back are left out.
    if (!(ms >= 0)) return;
    const wanted = model === undefined ? stage : nameOf(model, stage);
    const hasRoom =
      Object.hasOwn(this.ms, wanted) || Object.keys(this.ms).length < limits.stagesPerEvent - 1;
    const name = hasRoom ? wanted : OTHER;
    this.ms[name] = toNanosecond((this.ms[name] ?? 0) + ms);
  }
}

/** Names of models may hold what names of stages may not, and be longer. */
function nameOf(model: string, stage: string): string {
  const plain = model.replace(/[^A-Za-z0-9_.:/-]/g, '_');
  const named = /^[A-Za-z]/.test(plain) ? plain : `model_${plain}`;
  return `${named.slice(0, MAX_NAME - 1 - stage.length)}.${stage}`;
}

/** The time of a stage that is its own: that in which no model ran that it called. */
export function ownTime([from, to]: Interval, called: readonly Interval[]): number {
  let own = to - from;
  let reached = from;
  for (const [start, end] of called.toSorted(([a], [b]) => a - b)) {
    const [begin, over] = [Math.max(start, reached), Math.min(end, to)];
    if (over <= begin) continue;
    own -= over - begin;
    reached = over;
  }
  return own;
}
