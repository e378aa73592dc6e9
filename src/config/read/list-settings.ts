import {
  inputSchema,
  isMapNode,
  isNamedMap,
  propertiesOf,
  type SchemaNode,
} from '../input-schema.ts';

/** One setting of a line of the file, an environment variable or a flag. */
export interface Setting {
  /** Dotted path in the file: `kafka.group_id`. */
  readonly key: string;
  readonly path: readonly string[];
  /** Its environment variable: `TAILMARK_KAFKA_GROUP_ID`. */
  readonly environment: string;
  readonly node: SchemaNode;
  /** An optional block, such as `kafka.tls`; its environment variable is true or false. */
  readonly isBlock: boolean;
}

let known: readonly Setting[] | undefined;

/** Lists all settings in the order of the file. A block precedes its contents. */
export function listSettings(): readonly Setting[] {
  known ??= settingsBelow([], inputSchema());
  return known;
}

function settingsBelow(parent: readonly string[], block: SchemaNode): Setting[] {
  return Object.entries(propertiesOf(block)).flatMap(([name, node]) => {
    const path = [...parent, name];
    const setting: Setting = {
      key: path.join('.'),
      path,
      environment: `TAILMARK_${path.join('_').toUpperCase()}`,
      node: name === 'type' ? withVariants(node, block) : node,
      isBlock: isMapNode(node) && !isNamedMap(node),
    };
    if (!setting.isBlock) return [setting];
    const below = settingsBelow(path, node);
    return node.default === undefined ? [setting, ...below] : below;
  });
}

/** Replaces the `type` of a block with variants by an enumeration of all of them. */
function withVariants(node: SchemaNode, block: SchemaNode): SchemaNode {
  if (block.oneOf === undefined) return node;
  const types = block.oneOf.map((variant) => variant.properties?.type);
  const chosen = (block.default as { type?: unknown } | undefined)?.type;
  return {
    type: 'string',
    enum: types.map((type) => type?.const),
    description: types.map((type) => `${type?.const}: ${type?.description}`).join(' '),
    ...(chosen === undefined ? {} : { default: chosen }),
  };
}
