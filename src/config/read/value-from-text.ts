import { isMapNode, isNamedMap, type SchemaNode } from '../input-schema.ts';

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/**
 * Parses the text of an environment variable or a flag: lists are separated by commas, lists of
 * maps and maps are JSON; a list of names or maps is either. Text of another type is returned as it is, for
 * the schema to refuse.
 */
export function valueFromText(text: string, node: SchemaNode): unknown {
  if (isNamedMap(node)) return fromJson(text);
  if (node.type === 'array') {
    const items = node.items ?? {};
    const mayBeJson = items.anyOf !== undefined && /^\s*\[/.test(text);
    if (isMapNode(items) || mayBeJson) return fromJson(text);
    return text.split(',').map((item) => valueFromText(item.trim(), items));
  }
  if (node.type === 'number' || node.type === 'integer') {
    return decimal.test(text.trim()) ? Number(text) : text;
  }
  if (node.type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
