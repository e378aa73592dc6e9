import { describeType } from '../../src/config/describe-type.ts';
import { isMapNode, propertiesOf, type SchemaNode } from '../../src/config/input-schema.ts';
import type { Setting } from '../../src/config/read/list-settings.ts';

/** A row of a table: a key of an entry, dotted below a map. */
interface Row {
  readonly key: string;
  readonly node: SchemaNode;
  readonly required?: string;
}

/**
 * Tables of what the entries of lists hold, such as `alert.receivers`: those of several types have a table of the
 * keys that all share, and one a type.
 */
export function entryTables(settings: readonly Setting[]): string[] {
  return settings.flatMap(({ key, node: { items, additionalProperties } }) => {
    if (typeof additionalProperties === 'object') {
      return section(`Keys of an entry of \`${key}\``, [], rowsOf(additionalProperties));
    }
    const map = items?.anyOf?.find(isMapNode);
    if (map !== undefined)
      return section(`Keys of an entry of \`${key}\` that is a map`, [], rowsOf(map));
    if (items === undefined || !isMapNode(items)) return [];
    if (items.oneOf === undefined) return section(`Keys of \`${key}\``, [], rowsOf(items));
    const variants = items.oneOf.map((variant) => ({ variant, rows: rowsOf(variant) }));
    const [first, ...others] = variants.map(({ rows }) => rows);
    const isCommon = (row: Row) =>
      row.key !== 'type' &&
      others.every((rows) => rows.some((other) => lineOf(other) === lineOf(row)));
    const common = (first ?? []).filter(isCommon);
    return [
      ...section(`Keys of every entry of \`${key}\``, [], common),
      ...variants.flatMap(({ variant, rows }) => {
        const { type } = variant.properties ?? {};
        const own = rows.filter((row) => row.key !== 'type' && !isCommon(row));
        const name = String(type?.const);
        const what = (type?.description ?? '').replace(`${name}: `, '');
        const title = `Keys of \`${key}\` with \`type: ${name}\``;
        return section(title, [`${what.charAt(0).toUpperCase()}${what.slice(1)}`, ''], own);
      }),
    ];
  });
}

function section(title: string, intro: readonly string[], rows: readonly Row[]): string[] {
  const head = ['| key | must be | default | what it does |', '|---|---|---|---|'];
  return ['', `### ${title}`, '', ...intro, ...head, ...merged(rows).map(lineOf)];
}

/** Neighbours that differ in their key only, such as the dimensions of `match`, as one row. */
function merged(rows: readonly Row[]): Row[] {
  const result: Row[] = [];
  for (const row of rows) {
    const last = result.at(-1);
    const isSame = last !== undefined && lineOf({ ...last, key: row.key }) === lineOf(row);
    if (isSame) result.splice(-1, 1, { ...last, key: `${last.key}\`, \`${row.key}` });
    else result.push(row);
  }
  return result;
}

function rowsOf(entry: SchemaNode, parent = ''): Row[] {
  const properties = propertiesOf(entry);
  return Object.entries(properties).flatMap(([name, node]): Row[] => {
    const key = `${parent}${name}`;
    if (isMapNode(node)) return [{ key, node }, ...rowsOf(node, `${key}.`)];
    const isRequired = entry.required?.includes(name) === true;
    const orFile = Object.hasOwn(properties, `${name}_file`) ? `, or \`${name}_file\`` : '';
    return [{ key, node, ...(isRequired && { required: `required${orFile}` }) }];
  });
}

function lineOf({ key, node, required }: Row): string {
  const { default: value, description } = node;
  const shown = value === undefined ? '' : `\`${String(value)}\``;
  const byDefault = isMapNode(node) ? '' : shown;
  return `| \`${key}\` | ${describeType(node)} | ${required ?? byDefault} | ${description} |`;
}
