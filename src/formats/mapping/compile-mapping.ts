import type { Status } from '../../base/statuses.ts';
import type { RejectReason } from '../../decode/reject-reasons.ts';
import type { EventDraft, FormatReason } from '../format-reader.ts';
import { objectOf, parsed } from '../loose-json.ts';
import {
  between,
  conditionsOf,
  durationOf,
  type FieldKind,
  type Found,
  fieldOf,
  finder,
  type Getter,
  listOf,
  listOfDurations,
  timeOf,
} from './compile-sources.ts';
import { stagesOf } from './compile-stages.ts';
import { millisecondsOf, wholeMilliseconds } from './exact-time.ts';
import { Fault, shown } from './fault.ts';
import type { Mapping, StatusRule } from './mapping-schema.ts';
import { textLines } from './text-lines.ts';

const range = /^(>=|<=|>|<)\s*(\d+(?:\.\d+)?)$/;
const codeClass = /^([1-9])xx$/;

/** Result of a mapping of an object: an event, none by a mistake in it, or none by intent. */
export type Mapped =
  | { readonly draft: EventDraft }
  | { readonly reason: RejectReason | FormatReason; readonly detail: string }
  | 'skip';

/** Reads the headers of the record that holds an object, as texts. */
export type ReadTexts = () => Readonly<Record<string, string>>;

/** Fields apart from times, stages and status, with their kinds. */
const kinds = {
  model: 'text',
  version: 'text',
  request_type: 'text',
  region: 'text',
  service: 'text',
  host: 'text',
  tenant: 'text',
  id: 'text',
  trace_id: 'text',
  cold_start: 'flag',
  cache_hit: 'flag',
  partial: 'flag',
  batch_size: 'amount',
  request_bytes: 'amount',
  response_bytes: 'amount',
  input_tokens: 'amount',
  output_tokens: 'amount',
  concurrency: 'amount',
  queue_depth: 'amount',
  weight: 'amount',
} as const satisfies Record<string, FieldKind>;

function reasonOf(name: string, kind: FieldKind): RejectReason {
  return kind === 'text' && !name.endsWith('id') ? 'bad_dimension' : 'bad_field';
}

/**
 * Compiles a mapping to a function of objects, which never throws.
 *
 * @param fallbackModel model of objects in which the mapping finds none.
 */
export function compileMapping(
  mapping: Mapping,
  fallbackModel?: string | undefined,
): (object: unknown, headers?: ReadTexts) => Mapped {
  const unwrap = unwrapperOf(mapping);
  const applies = conditionsOf(mapping.where);
  const isNoRequest = noRequestOf(mapping);
  const readTimes = timesOf(mapping);
  const readStatus = mapping.status === undefined ? undefined : statusOf(mapping.status);
  const readStages = mapping.stages && stagesOf(mapping.stages);
  const readMilestones = mapping.milestones && stagesOf(mapping.milestones);
  const readGaps = mapping.itl && listOfDurations(mapping.itl);
  const fields = fieldsOf(mapping);
  const attributes = attributesOf(mapping);
  const { headers: headersName } = mapping;
  return (object, headers) => {
    try {
      const unwrapped = unwrap(object);
      if (unwrapped === undefined) return 'skip';
      const root =
        headersName === undefined || headers === undefined
          ? unwrapped
          : { ...(unwrapped as object), [headersName]: headers() };
      if (!applies(root) || isNoRequest(root)) return 'skip';
      const { start, ...times } = readTimes(root);
      const draft: Record<string, unknown> = times;
      for (const [name, get] of fields) {
        const value = get(root);
        if (value !== undefined) draft[name] = value;
      }
      if (attributes.length > 0) draft.attributes = valuesOf(attributes, root);
      draft.model ??= fallbackModel;
      if (draft.model === undefined) throw missingModel(mapping);
      const status = readStatus?.(root);
      if (status !== undefined) draft.status = status;
      if (readStages !== undefined) draft.stages_ms = readStages(root, start);
      if (readMilestones !== undefined) draft.milestones_ms = readMilestones(root, start);
      if (readGaps !== undefined) draft.itl_ms = readGaps(root);
      return { draft };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return { reason: error.reason, detail: error.message };
    }
  };
}

/** The object itself, or what a text in it holds; undefined for a line of a log that is no object. */
function unwrapperOf({ unwrap, lines }: Mapping): Getter<unknown> {
  const find = unwrap === undefined ? undefined : finder(unwrap);
  const text = lines === undefined ? undefined : textLines[lines];
  return (object) => {
    if (typeof object !== 'object' || object === null || Array.isArray(object)) {
      throw new Fault('not_an_object', `the line must hold an object: it is ${shown(object)}`);
    }
    const found = find?.(object);
    if (found === undefined || typeof found.value === 'object') return found?.value ?? object;
    const line = String(found.value);
    if (!line.trimStart().startsWith('{')) return text?.read(line.trimEnd());
    const held = parsed(line) ?? text?.read(line.trim());
    if (held !== undefined) return held;
    throw new Fault('invalid_json', `"${found.at}" must hold valid JSON: it is ${shown(line)}`);
  };
}

/** Connections without a request, where the software that wrote the lines logs them too. */
function noRequestOf({ lines }: Mapping): (root: unknown) => boolean {
  const isNoRequest = lines === undefined ? undefined : textLines[lines].isNoRequest;
  return (root) => isNoRequest?.(objectOf(root) ?? {}) === true;
}

function fieldsOf(mapping: Mapping) {
  return Object.entries(kinds).flatMap(([name, kind]) => {
    const given = mapping[name as keyof typeof kinds];
    return given === undefined ? [] : [[name, fieldOf(given, kind, reasonOf(name, kind))] as const];
  });
}

type Attribute = readonly [name: string, get: Getter<string | number | boolean>];

function attributesOf({ attributes = {} }: Mapping): Attribute[] {
  return Object.entries(attributes).map(([name, given]) => [
    name,
    fieldOf(given, 'any', 'bad_dimension'),
  ]);
}

/** Values that the object has, by name; undefined without any. */
function valuesOf(attributes: readonly Attribute[], root: unknown) {
  const found = attributes.flatMap(([name, get]) => {
    const value = get(root);
    return value === undefined ? [] : [[name, value] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function timesOf(mapping: Mapping) {
  const startOf = mapping.start === undefined ? undefined : timeOf(mapping.start);
  const endOf = mapping.end === undefined ? undefined : timeOf(mapping.end);
  const totalOf = mapping.total === undefined ? undefined : durationOf(mapping.total);
  return (root: unknown) => {
    const given = startOf?.(root);
    const end = endOf?.(root);
    const measured = totalOf?.(root);
    const derived = end !== undefined && measured !== undefined ? end - measured : undefined;
    const start = given ?? derived;
    if (start === undefined) throw missingStart(mapping);
    const total = measured ?? (end === undefined ? undefined : between(start, end, 'the request'));
    const ts = wholeMilliseconds(start);
    return total === undefined ? { start, ts } : { start, ts, total_ms: millisecondsOf(total) };
  };
}

function missingStart({ start, end, total }: Mapping): Fault {
  const places = [start, end, total].flatMap((each) => (each === undefined ? [] : listOf(each)));
  return new Fault('missing_ts', `the start must be at ${placesOf(places)}: nothing is there`);
}

function missingModel({ model }: Mapping): Fault {
  const places = listOf(model ?? []).flatMap((source) => {
    if (typeof source === 'string') return [{ path: source }];
    return 'path' in source ? [source] : [];
  });
  const where = places.length === 0 ? 'given: the mapping has none' : `at ${placesOf(places)}`;
  const end = places.length === 0 ? '' : ': nothing is there';
  return new Fault('missing_model', `the model must be ${where}${end}`);
}

function placesOf(sources: readonly { readonly path: string | readonly string[] }[]): string {
  const paths = sources.flatMap(({ path }) => listOf(path));
  return [...new Set(paths)].map((path) => `"${path}"`).join(' or ');
}

/** Compiles how a request ended; the contract takes an absent status for `ok`. */
function statusOf(given: StatusRule | readonly StatusRule[]): Getter<Status> {
  const rules = listOf(given).map((rule) => ({ find: finder(rule.path), answer: answerOf(rule) }));
  return (root) => {
    let unknown: Found | undefined;
    for (const { find, answer } of rules) {
      const found = find(root);
      if (found === undefined) continue;
      const status = answer(found.value);
      if (status !== undefined) return status;
      unknown = found;
    }
    if (unknown === undefined) return undefined;
    const { at, value } = unknown;
    throw new Fault(
      'bad_status',
      `"${at}" must be a value that the mapping knows: it is ${shown(value)}`,
    );
  };
}

function answerOf({ map, otherwise }: StatusRule): (value: unknown) => Status | undefined {
  const exact = new Map(Object.entries(map));
  const ranges = [...exact].flatMap(([key, status]) => {
    const holds = rangeOf(key);
    return holds === undefined ? [] : [{ holds, status }];
  });
  return (value) => {
    if (typeof value === 'object') return undefined;
    const direct = exact.get(String(value));
    if (direct !== undefined) return direct;
    const number = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value);
    return ranges.find(({ holds }) => holds(number))?.status ?? otherwise;
  };
}

/** Range that a key of the map means; undefined for an exact value. */
function rangeOf(key: string): ((number: number) => boolean) | undefined {
  const hundreds = codeClass.exec(key)?.[1];
  if (hundreds !== undefined) return (number) => Math.floor(number / 100) === Number(hundreds);
  const [, sign, text] = range.exec(key) ?? [];
  if (sign === undefined) return undefined;
  const bound = Number(text);
  if (sign === '>=') return (number) => number >= bound;
  if (sign === '<=') return (number) => number <= bound;
  return sign === '>' ? (number) => number > bound : (number) => number < bound;
}
