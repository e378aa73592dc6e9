import { OperatorError } from '../base/operator-error.ts';
import { parseDuration } from '../config/duration.ts';
import { type Fault, type FaultKind, faultDefaults, faultKinds } from './fault.ts';
import { hostNames } from './host-pool.ts';
import type { ModelProfile } from './model-profile.ts';

type Key = keyof Omit<Fault, 'kind'>;

/** The flag's keys and the fields that they set, in the order in which errors list them. */
const fields: Readonly<Record<string, Key>> = {
  model: 'model',
  version: 'version',
  region: 'region',
  host: 'host',
  request_type: 'requestType',
  stage: 'stage',
  factor: 'factor',
  share: 'share',
  from: 'fromMs',
  for: 'forMs',
  ramp: 'rampMs',
  stop: 'stopMs',
  every: 'everyMs',
  after: 'afterMs',
  knock_on: 'knockOn',
};

const everywhere = ['model', 'region', 'request_type', 'from', 'for'];
const perRequest = [...everywhere, 'version', 'host'];

/** Keys that each kind allows. */
const allowed: Readonly<Record<FaultKind, readonly string[]>> = {
  slow_stage: [...perRequest, 'stage', 'factor', 'share', 'ramp', 'knock_on'],
  queue: [...perRequest, 'factor', 'ramp'],
  pause: [...everywhere, 'host', 'stop', 'every'],
  bad_version: [...perRequest, 'factor', 'share', 'ramp', 'knock_on'],
  release: [...everywhere, 'stage', 'factor', 'share'],
  network: [...perRequest, 'factor', 'share', 'ramp'],
  errors: [...perRequest, 'share'],
  timeouts: [...perRequest, 'stage', 'share', 'after'],
  traffic: [...everywhere, 'factor', 'ramp'],
  cold_starts: [...perRequest, 'share'],
  cache_misses: [...perRequest, 'share'],
  big_requests: [...perRequest, 'factor', 'share', 'ramp'],
};

/**
 * Reads `kind[,key=value...]`, e.g. `slow_stage,stage=features,model=ranker,from=10m,for=2m`. The model,
 * version, region, host and stage must be in the fleet. @throws {OperatorError} TAILMARK_USAGE that names the
 * bad key or value and lists the allowed ones
 */
export function parseFault(text: string, fleet: readonly ModelProfile[]): Fault {
  const [kindText = '', ...pairs] = text.split(',').map((part) => part.trim());
  const kind = faultKinds.find((known) => known === kindText);
  if (kind === undefined) throw refuse('kind', `be one of ${faultKinds.join(', ')}`, kindText);
  const values: Partial<Record<Key, string | number | boolean>> = {};
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    const key = equals < 0 ? pair : pair.slice(0, equals);
    const value = equals < 0 ? '' : pair.slice(equals + 1);
    if (!allowed[kind].includes(key)) {
      throw refuse(`key of ${kind}`, `be one of ${[...allowed[kind]].sort().join(', ')}`, key);
    }
    const field = fields[key] as Key;
    if (values[field] !== undefined) throw refuse(`key of ${kind}`, 'stand once', key);
    values[field] = readValue(key, field, value);
  }
  const fault = { kind, ...faultDefaults[kind], ...values } as Fault;
  if (kind === 'slow_stage' && fault.stage === undefined) {
    throw refuse('slow_stage', 'name a stage, as in stage=features', text);
  }
  if (kind === 'pause' && (fault.stopMs as number) >= (fault.everyMs as number)) {
    throw refuse('stop', `be shorter than every (${fault.everyMs} ms)`, `${fault.stopMs} ms`);
  }
  checkNames(fault, fleet);
  return fault;
}

function readValue(key: string, field: Key, value: string): string | number | boolean {
  switch (field) {
    case 'factor':
      return readNumber(key, value, 0, 1_000);
    case 'share': {
      const share = readNumber(key, value, 0, 1);
      if (share === 0) throw refuse(key, 'be above 0 and at most 1', value);
      return share;
    }
    case 'fromMs':
    case 'forMs':
    case 'rampMs':
    case 'stopMs':
    case 'everyMs':
    case 'afterMs': {
      const ms = parseDuration(value);
      if (ms === undefined) {
        throw refuse(key, 'be a duration from the start, as 500ms, 10s, 5m or 24h', value);
      }
      if (ms === 0 && (field === 'everyMs' || field === 'stopMs' || field === 'afterMs')) {
        throw refuse(key, 'be above 0', value);
      }
      return ms;
    }
    case 'knockOn':
      if (value !== 'true' && value !== 'false') throw refuse(key, 'be true or false', value);
      return value === 'true';
    default:
      if (value === '') throw refuse(key, 'have a value, as in model=ranker', value);
      return value;
  }
}

function readNumber(key: string, text: string, least: number, most: number): number {
  const value = text === '' ? Number.NaN : Number(text);
  if (!(value >= least && value <= most)) {
    throw refuse(key, `be a number from ${least} to ${most}`, text);
  }
  return value;
}

/** A fault that hits nothing is a typing error, so it is reported. */
function checkNames(fault: Fault, fleet: readonly ModelProfile[]): void {
  let models = fleet;
  const narrow = (
    key: string,
    wanted: string | undefined,
    namesOf: (model: ModelProfile) => readonly string[],
  ) => {
    if (wanted === undefined) return;
    const known = [...new Set(models.flatMap((model) => [...namesOf(model)]))];
    models = models.filter((model) => namesOf(model).includes(wanted));
    if (models.length === 0) throw refuse(key, `be one of ${known.join(', ')}`, wanted);
  };
  narrow('model', fault.model, (model) => [model.name]);
  narrow('version', fault.version, (model) => model.versions.map(({ name }) => name));
  narrow('region', fault.region, (model) => model.regions.map(({ name }) => name));
  narrow('request_type', fault.requestType, (model) => model.requestTypes.map(({ name }) => name));
  narrow('host', fault.host, (model) =>
    model.regions
      .filter(({ name }) => fault.region === undefined || name === fault.region)
      .flatMap(({ name }) => [...hostNames(model, name)]),
  );
  narrow('stage', fault.stage, (model) => [
    ...new Set([...model.stages.map(({ name }) => name), model.coldStart.stage]),
  ]);
}

function refuse(field: string, rule: string, value: string): OperatorError {
  return new OperatorError(
    'TAILMARK_USAGE',
    `Cannot read --fault as ${field} must ${rule}: it is ${JSON.stringify(value)}`,
    {
      hint: 'Write --fault kind[,key=value...], e.g. --fault slow_stage,stage=features,factor=4,from=10m,for=2m.',
    },
  );
}
