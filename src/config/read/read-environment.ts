import { closest } from '../closest.ts';
import type { ConfigProblem } from '../config-error.ts';
import { holdsSecret } from '../input-schema.ts';
import { listSettings, type Setting } from './list-settings.ts';
import { valueFromText } from './value-from-text.ts';

/** Variables of this name space that set no setting, and their purposes. */
export const otherVariables: Readonly<Record<string, string>> = {
  TAILMARK_CONFIG: 'Configuration file, if there is no --config.',
  TAILMARK_CACHE_DIR: 'Where the engines of the local stack are kept.',
};

/**
 * Kubernetes injects these variables into every pod for a Service named `tailmark` or `tailmark-…`:
 * TAILMARK_SERVICE_HOST, TAILMARK_PORT, TAILMARK_PORT_9464_TCP_ADDR.
 */
const serviceLink =
  /_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$/;

/** A setting from a variable or a flag. */
export interface PlacedSetting {
  readonly setting: Setting;
  readonly value: unknown;
  readonly where: string;
}

/** A secret may begin and end with quotes; no other setting does. */
function isQuoted(text: string): boolean {
  return /^(["']).*\1$/s.test(text);
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
    // A block may hold a token of somebody who looks for its place.
    const shown = setting.isBlock || holdsSecret(setting.node) ? '(hidden)' : text;
    if (isQuoted(text) && setting.node.secret !== true) {
      const message = `${setting.key} must be set without quotes around it: it is ${shown}`;
      const hint =
        'A shell takes such quotes away; `docker run --env-file` and systemd may keep them.';
      problems.push({ where, key: setting.key, message, hint });
    } else if (!setting.isBlock) {
      placed.push({ setting, value: valueFromText(text, setting.node), where });
    } else if (text === 'true' || text === 'false') {
      placed.push({ setting, value: text === 'true' ? {} : undefined, where });
    } else {
      const message = `${setting.key} must be true or false here: it is ${shown}`;
      const hint = `Set ${where}_… for what the block holds.`;
      problems.push({ where, key: setting.key, message, hint });
    }
  }
  for (const name of Object.keys(env).sort()) {
    if (!name.startsWith('TAILMARK_') || names.has(name) || env[name] === '') continue;
    if (Object.hasOwn(otherVariables, name) || serviceLink.test(name)) continue;
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
