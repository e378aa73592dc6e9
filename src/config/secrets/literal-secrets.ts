import type { ConfigProblem } from '../config-error.ts';
import { keyOf, leavesOf } from '../input-schema.ts';
import { listSettings } from '../read/list-settings.ts';
import type { YamlTree } from '../read/read-yaml.ts';

type Path = readonly PropertyKey[];

/**
 * Finds secrets that stand in the configuration file itself, which is copied, printed and committed.
 * Addresses of webhooks may stand there without a login and a query. Returns the problems, and the path of
 * each so that callers can remove it.
 */
export function literalSecrets(file: YamlTree): (ConfigProblem & { readonly path: Path })[] {
  return [...leavesOf(file.value)].flatMap(({ path, value, node }) => {
    if (node.secret !== true || value === null || value === '') return [];
    const must = node.inFile === true ? addressRule(value) : 'must not stand in the file';
    if (must === undefined) return [];
    const key = keyOf(path);
    const hint = `Put it into a file of its own and name that in ${String(path.at(-1))}_file${orVariable(key)}.`;
    return [
      {
        path,
        where: file.where(path, 'value'),
        key,
        message: `${key} ${must}: it is (hidden)`,
        hint,
      },
    ];
  });
}

/** Returns the problem of an address in the file; undefined for a valid address and for any other value. */
function addressRule(value: unknown): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value)) return undefined;
  const { username, password, search } = new URL(value);
  if (username === '' && password === '' && search === '') return undefined;
  return 'must hold no login and no query where it stands in the file';
}

function orVariable(wanted: string): string {
  const setting = listSettings().find(({ key }) => key === wanted);
  return setting === undefined ? '' : `, or set ${setting.environment}`;
}
