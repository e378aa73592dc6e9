import { formatDuration } from './duration.ts';
import { isMapNode, type SchemaNode } from './input-schema.ts';

/**
 * Describes the type of a setting in words that follow "must be": "a duration from 6s to 5m", "one of
 * earliest, latest". Messages and docs/reference/configuration.md use the same words.
 */
export function describeType(node: SchemaNode): string {
  if (node.duration !== undefined) {
    const { minMs, maxMs } = node.duration;
    return `a duration from ${formatDuration(minMs)} to ${formatDuration(maxMs)}`;
  }
  if (isMapNode(node)) return 'a map';
  if (node.anyOf !== undefined) return node.anyOf.map(describeType).join(', or ');
  if (node.enum !== undefined) return `one of ${node.enum.join(', ')}`;
  if (node.form !== undefined) return node.form;
  switch (node.type) {
    case 'array':
      return describeList(node.items ?? {});
    case 'integer':
      return `a whole number${range(node)}`;
    case 'number':
      return `a number${range(node)}`;
    case 'boolean':
      return 'true or false';
    default:
      return 'text';
  }
}

function describeList(items: SchemaNode): string {
  if (items.enum !== undefined) return `a list of ${items.enum.join(', ')}`;
  if (isMapNode(items)) return 'a list of maps';
  if (items.form?.startsWith('one of ') === true)
    return `a list of ${items.form.slice('one of '.length)}`;
  return `a list, each entry ${describeType(items)}`;
}

function range(node: SchemaNode): string {
  const least = node.minimum;
  // zod bounds whole numbers by the largest safe integer; that bound is left out.
  const most = node.maximum === Number.MAX_SAFE_INTEGER ? undefined : node.maximum;
  if (least !== undefined && most !== undefined) return ` from ${least} to ${most}`;
  const parts: string[] = [];
  if (least !== undefined) parts.push(` of at least ${least}`);
  if (node.exclusiveMinimum !== undefined) parts.push(` above ${node.exclusiveMinimum}`);
  if (node.exclusiveMaximum !== undefined) parts.push(` below ${node.exclusiveMaximum}`);
  if (most !== undefined) parts.push(` up to ${most}`);
  return parts.join(' and');
}
