import { closest } from '../closest.ts';
import type { ConfigProblem } from '../config-error.ts';
import { foreignVariables } from './foreign-variables.ts';
import { listSettings, type Setting } from './list-settings.ts';
import { valueFromText } from './value-from-text.ts';

/** A setting from a variable or a flag. */
export interface PlacedSetting {
  readonly setting: Setting;
  readonly value: unknown;
  /** Name of the variable or flag. */
  readonly where: string;
}

/**
 * Reads the settings of the environment, in the order of the file. An empty variable counts as absent, since
 * compose files and charts set those. Unknown TAILMARK_ variables are problems.
 */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): {
  readonly placed: readonly PlacedSetting[];
  readonly problems: readonly ConfigProblem[];
} {
  const placed: PlacedSetting[] = [];
  const problems: ConfigProblem[] = [];
  const names = new Set<string>();
  for (const setting of listSettings()) {
    names.add(setting.environment);
    const text = env[setting.environment];
    if (text === undefined || text === '') continue;
    const where = setting.environment;
    if (!setting.isBlock) {
      placed.push({ setting, value: valueFromText(text, setting.node), where });
    } else if (text === 'true' || text === 'false') {
      placed.push({ setting, value: text === 'true' ? {} : undefined, where });
    } else {
      const message = `${setting.key} must be true or false here: it is ${JSON.stringify(text)}`;
      const hint = `Set ${where}_… for what the block holds.`;
      problems.push({ where, key: setting.key, message, hint });
    }
  }
  for (const name of Object.keys(env).sort()) {
    if (!name.startsWith('TAILMARK_') || names.has(name) || env[name] === '') continue;
    if (foreignVariables.isForeign(name)) continue;
    const near = closest(name, names);
    problems.push({
      where: name,
      key: '',
      message: 'is not a setting: no key of the file has this path',
      hint: near === undefined ? 'Unset it.' : `Did you mean ${near}?`,
    });
  }
  return { placed, problems };
}
