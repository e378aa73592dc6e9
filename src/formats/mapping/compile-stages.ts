import { limits } from '../../base/limits.ts';
import {
  between,
  conditionsOf,
  durationOf,
  finder,
  listOf,
  nanosecondsIn,
  pathOf,
  timeOf,
} from './compile-sources.ts';
import { millisecondsOf } from './exact-time.ts';
import { Fault, shown } from './fault.ts';
import type { Mapping } from './mapping-schema.ts';
import { valueAt } from './path.ts';

/** Reads the stages of a request that started at a time, in nanoseconds. */
export type StagesReader = (root: unknown, start: bigint | undefined) => Record<string, number>;

type Given = NonNullable<Mapping['stages']>;
type Durations = Iterable<readonly [name: string, nanoseconds: bigint | undefined]>;

/** Compiles where the stages come from. Those of one name add up. */
export function stagesOf(given: Given): StagesReader {
  const read = readerOf(given);
  return (root, start) => {
    const sums = new Map<string, bigint>();
    for (const [name, nanoseconds] of read(root, start)) {
      if (nanoseconds === undefined) continue;
      sums.set(name, (sums.get(name) ?? 0n) + nanoseconds);
      if (sums.size > limits.stagesPerEvent) throw tooManyStages();
    }
    // fromEntries defines properties, so a stage named __proto__ stays one, for the contract to refuse.
    return Object.fromEntries([...sums].map(([name, sum]) => [name, millisecondsOf(sum)]));
  };
}

function tooManyStages(): Fault {
  const most = limits.stagesPerEvent;
  return new Fault('too_many_stages', `the stages must be at most ${most}: there are more`);
}

function readerOf(given: Given): (root: unknown, start: bigint | undefined) => Durations {
  if (Array.isArray(given)) {
    const stages = given.map(stageOf);
    return (root, start) => stages.map((read) => read(root, start));
  }
  return 'name' in given ? listReader(given) : mapReader(given);
}

type Stage = Extract<Given, readonly unknown[]>[number];

function stageOf(stage: Stage) {
  const applies = conditionsOf(stage.where);
  const { name } = stage;
  if ('end' in stage) {
    const startOf = stage.start === undefined ? undefined : timeOf(stage.start);
    const endOf = timeOf(stage.end);
    return (root: unknown, start: bigint | undefined) => {
      const from = applies(root) ? (startOf === undefined ? start : startOf(root)) : undefined;
      const to = from === undefined ? undefined : endOf(root);
      const known = from !== undefined && to !== undefined;
      return [name, known ? between(from, to, `stage ${name}`) : undefined] as const;
    };
  }
  const read = durationOf(stage);
  return (root: unknown) => [name, applies(root) ? read(root) : undefined] as const;
}

/** Stages as an object of names and durations, read one by one: there may be too many. */
function mapReader({ path, unit }: Extract<Given, { path: unknown }>) {
  const find = finder(path);
  return function* (root: unknown): Durations {
    const found = find(root);
    if (found === undefined) return;
    const { value, at } = found;
    if (typeof value !== 'object' || Array.isArray(value)) {
      throw new Fault('bad_duration', `"${at}" must be an object of stages: it is ${shown(value)}`);
    }
    for (const [name, duration] of Object.entries(value as object)) {
      if (duration === null) continue;
      yield [name, nanosecondsIn({ value: duration, at: `${at}.${name}` }, unit)];
    }
  };
}

/** Stages as a list of objects. */
function listReader(given: Extract<Given, { duration: string }>) {
  const find = finder(given.path);
  const namePath = pathOf(given.name);
  const durationPath = pathOf(given.duration);
  return function* (root: unknown): Durations {
    const found = find(root);
    if (found === undefined) return;
    const { value, at } = found;
    if (!Array.isArray(value)) {
      throw new Fault('bad_duration', `"${at}" must be a list of stages: it is ${shown(value)}`);
    }
    for (const [position, item] of listOf<unknown>(value).entries()) {
      const name = valueAt(item, namePath);
      const here = `${at}[${position}]`;
      if (typeof name !== 'string') {
        const rule = `"${here}.${given.name}" must be the name of a stage`;
        throw new Fault('bad_stage_name', `${rule}: it is ${shown(name)}`);
      }
      const duration = valueAt(item, durationPath);
      const place = { value: duration, at: `${here}.${given.duration}` };
      yield [name, duration === undefined ? undefined : nanosecondsIn(place, given.unit)];
    }
  };
}
