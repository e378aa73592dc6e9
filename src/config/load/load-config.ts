import { invariant } from '../../base/invariant.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { ConfigError, type ConfigProblem } from '../config-error.ts';
import { isMapNode, keyOf, nodeAt } from '../input-schema.ts';
import { listSettings } from '../read/list-settings.ts';
import { type PlacedSetting, readEnvironment } from '../read/read-environment.ts';
import { readSecrets } from '../read/read-secrets.ts';
import { readYaml, type YamlTree } from '../read/read-yaml.ts';
import { type SettingOrigin, SettingTree } from '../read/setting-tree.ts';
import { valueFromText } from '../read/value-from-text.ts';
import { type Config, configSchema } from '../schema.ts';
import { literalSecrets } from '../secrets/literal-secrets.ts';
import { maskSecrets } from '../secrets/mask-secrets.ts';
import { rememberSecrets } from '../secrets/remember-secrets.ts';
import { type TopicFormat, topicEntry } from '../topic-format.ts';
import { explainIssue } from './explain-issue.ts';

export interface LoadConfigOptions {
  /** Configuration file. @default {TAILMARK_CONFIG, else tailmark.yaml if there is one} */
  readonly path?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values by dotted key; text is read like environment variables. */
  readonly flags?: Readonly<Record<string, unknown>>;
  /** Names of flags in messages: `--brokers` for kafka.brokers. @default {`flag kafka.brokers`} */
  readonly flagNames?: Readonly<Record<string, string>>;
  /** Reads a file's text; throws as `fs.readFileSync` does. */
  readFile(path: string): string;
  /**
   * Returns the mistakes in the files that a valid format names.
   * @default {files are not read}
   */
  readonly problemsOfFiles?: (
    given: TopicFormat,
    place: Pick<ConfigProblem, 'where' | 'key'>,
  ) => readonly ConfigProblem[];
}

/** One setting in force. */
export interface EffectiveSetting {
  readonly key: string;
  /**
   * Value as written in the file (durations are text), secrets masked; undefined if unset and without
   * default.
   */
  readonly shown: unknown;
  readonly origin: SettingOrigin;
  /** `tailmark.yaml:3:5`, `TAILMARK_KAFKA_BROKERS`, `--brokers`, 'default'. */
  readonly where: string;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly origins: ReadonlyMap<string, SettingOrigin>;
  readonly settings: readonly EffectiveSetting[];
  /** File that was read, undefined if there was none. */
  readonly file: string | undefined;
}

const defaultFile = 'tailmark.yaml';

/**
 * Loads the configuration in force: flags over environment over file over defaults.
 *
 * @throws {ConfigError} TAILMARK_CONFIG_INVALID with all problems at once
 * @throws {OperatorError} TAILMARK_CONFIG_UNREADABLE if a requested file cannot be read
 */
export function loadConfig(options: LoadConfigOptions): LoadedConfig {
  const { file, tree: yaml } = readConfigFile(options);
  const environment = readEnvironment(options.env);
  const literals = literalSecrets(yaml);
  const tree = new SettingTree(yaml);
  rememberSecrets(tree.value);
  tree.put(environment.placed, 'environment');
  tree.put(placeFlags(options), 'flag');
  const secretProblems = [...literals, ...readSecrets(tree, options.readFile)];
  rememberSecrets(tree.value);
  const parsed = configSchema.safeParse(tree.value);
  const literalPaths = new Set(literals.map(({ path }) => path.join('.')));
  const issues = parsed.success
    ? []
    : [...parsed.error.issues, ...laterIssues(tree, parsed.error)]
        .flatMap((issue) => meantIssues(issue, tree))
        .filter(({ path }) => !literalPaths.has(path.join('.')))
        .filter(isOfItsType);
  const problems: ConfigProblem[] = [
    ...yaml.problems,
    ...inOrder([...issues.flatMap((issue) => explainIssue(issue, tree)), ...secretProblems]),
    ...environment.problems,
    ...problemsOfFormats(tree, options),
  ];
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  const settings = listSettings()
    .filter((setting) => !setting.isBlock || tree.at(setting.path) !== undefined)
    .map(({ key, path, node, isBlock }): EffectiveSetting => {
      const origin = tree.origin(path);
      const shown = isBlock ? true : maskSecrets(tree.at(path) ?? node.default, node);
      const where = origin === 'default' ? origin : tree.where(path);
      return { key, shown, origin, where };
    });
  const origins = new Map(settings.map(({ key, origin }) => [key, origin]));
  return { config: parsed.data, origins, settings, file };
}

/** Problems of files, of the formats that are valid: those of the source, or of Kafka's topics. */
function problemsOfFormats(
  tree: SettingTree,
  { problemsOfFiles }: LoadConfigOptions,
): readonly ConfigProblem[] {
  if (problemsOfFiles === undefined) return [];
  const { data: source } = configSchema.shape.source.safeParse(tree.at(['source']));
  const topics = tree.at(['kafka', 'topics']);
  const formats: (readonly [TopicFormat, readonly PropertyKey[]])[] = [];
  if (source !== undefined && source.type !== 'kafka') formats.push([source, ['source']]);
  else if (Array.isArray(topics)) {
    for (const [index, entry] of topics.entries()) {
      const { data } = topicEntry.safeParse(entry);
      if (typeof data === 'object') formats.push([data, ['kafka', 'topics', index]]);
    }
  }
  const problems = formats.flatMap(([given, path]) =>
    problemsOfFiles(given, { where: tree.where(path), key: keyOf(path) }),
  );
  // Topics may share a file.
  const seen = new Map(problems.map((problem) => [`${problem.where} ${problem.message}`, problem]));
  return [...seen.values()];
}

function readConfigFile(options: LoadConfigOptions): { file: string | undefined; tree: YamlTree } {
  const named = options.path ?? (options.env.TAILMARK_CONFIG || undefined);
  const file = named ?? defaultFile;
  try {
    return { file, tree: readYaml(options.readFile(file), file) };
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code;
    if (reason === undefined) throw error;
    if (named === undefined && reason === 'ENOENT') {
      return { file: undefined, tree: readYaml('', file) };
    }
    throw new OperatorError(
      'TAILMARK_CONFIG_UNREADABLE',
      `Cannot load the configuration as the file must be readable: ${file} gives ${reason}`,
      {
        hint:
          options.path === undefined && named !== undefined
            ? 'TAILMARK_CONFIG names it.'
            : 'Name another with --config, or start from config/minimal.yaml.',
        cause: error,
      },
    );
  }
}

function placeFlags({ flags = {}, flagNames = {} }: LoadConfigOptions): PlacedSetting[] {
  const byKey = new Map(listSettings().map((setting) => [setting.key, setting]));
  return Object.entries(flags)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => {
      const setting = byKey.get(key);
      invariant(setting !== undefined, `no setting ${key} for a flag to set`);
      return {
        setting,
        value: typeof value === 'string' ? valueFromText(value, setting.node) : value,
        where: flagNames[key] ?? `flag ${key}`,
      };
    });
}

/**
 * Finds issues of rules across keys, which zod evaluates only for blocks whose keys are all valid. Invalid
 * keys are removed and the rest is validated again, so all problems are reported together.
 */
function laterIssues(tree: SettingTree, error: { readonly issues: readonly Issue[] }): Issue[] {
  const rest = structuredClone(tree.value);
  for (const issue of error.issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) remove(rest, [...issue.path, key]);
    } else {
      const missing = tree.at(issue.path) === undefined;
      remove(rest, missing ? issue.path.slice(0, -1) : issue.path);
    }
  }
  const again = configSchema.safeParse(rest);
  if (again.success) return [];
  const seen = new Set(error.issues.map(({ path, message }) => `${path.join('.')} ${message}`));
  return again.error.issues.filter(
    ({ code, path, message }) => code === 'custom' && !seen.has(`${path.join('.')} ${message}`),
  );
}

type Issue = Parameters<typeof explainIssue>[0];

/** Returns the issues of the form that was meant, where a value may be a text or a map. */
function meantIssues(issue: Issue, tree: SettingTree): readonly Issue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue];
  const isMap = typeof tree.at(issue.path) === 'object';
  const variants = nodeAt(issue.path)?.anyOf ?? [];
  const meant = issue.errors[variants.findIndex((variant) => isMapNode(variant) === isMap)];
  const placed = meant?.map((each) => ({ ...each, path: [...issue.path, ...each.path] }));
  return placed ?? [issue];
}

/** False for the length of a value of another type, which zod reports beside the type: a text for a list. */
function isOfItsType({ code, path }: Issue, _index: number, all: readonly Issue[]): boolean {
  if (code !== 'too_big' && code !== 'too_small') return true;
  const place = path.join('.');
  return !all.some((other) => other.code === 'invalid_type' && other.path.join('.') === place);
}

/** Removes a key. An item of a list is removed with the whole list, so that the default holds. */
function remove(tree: Record<string, unknown>, path: readonly PropertyKey[]): void {
  const listAt = path.findIndex((step) => typeof step === 'number');
  const keys = listAt < 0 ? path : path.slice(0, listAt);
  let block: unknown = tree;
  for (const key of keys.slice(0, -1)) block = (block as Record<PropertyKey, unknown>)?.[key];
  const last = keys.at(-1);
  if (last !== undefined && typeof block === 'object' && block !== null)
    Reflect.deleteProperty(block, last);
}

/** Sorts problems in the order of the file, then those of variables and flags. */
function inOrder(problems: readonly ConfigProblem[]): ConfigProblem[] {
  const place = ({ where }: ConfigProblem) => {
    const match = /:(\d+):(\d+)$/.exec(where);
    return match === null ? Number.MAX_SAFE_INTEGER : Number(match[1]) * 1e5 + Number(match[2]);
  };
  return problems.toSorted((a, b) => place(a) - place(b));
}
