import { nodeAt, propertiesFor, propertiesOf } from '../input-schema.ts';
import type { PlacedSetting } from './read-environment.ts';
import type { YamlTree } from './read-yaml.ts';

export type SettingOrigin = 'flag' | 'environment' | 'file' | 'default';

type Block = Record<string, unknown>;

/**
 * Merges the file, the environment and the flags: each layer overrides the one before, and every value
 * records its source.
 */
export class SettingTree {
  readonly value: Block;
  readonly #file: YamlTree;
  readonly #placed = new Map<string, { origin: SettingOrigin; where: string }>();

  constructor(file: YamlTree) {
    this.#file = file;
    this.value = structuredClone(file.value) as Block;
    fillEmptyBlocks(this.value, []);
  }

  /** Applies a layer. A value that it replaces in part is replaced as a whole. */
  put(layer: readonly PlacedSetting[], origin: 'flag' | 'environment'): void {
    const inLayer = new Set(layer.map(({ setting }) => setting.key));
    for (const { setting, value, where } of layer) {
      const { path, key } = setting;
      const block = this.#blockOf(path);
      const name = path.at(-1) as string;
      // The enclosing block is not a map: the schema reports that, and no setting fits into it.
      if (block === undefined) continue;
      // Enabling a block keeps its contents.
      if (setting.isBlock && value !== undefined && isBlock(block[name])) continue;
      const partner = name.endsWith('_file') ? name.slice(0, -'_file'.length) : `${name}_file`;
      const partnerKey = [...path.slice(0, -1), partner].join('.');
      if (nodeAt(partnerKey.split('.')) !== undefined && !inLayer.has(partnerKey)) {
        delete block[partner];
        this.#placed.delete(partnerKey);
      }
      if (name === 'type' && block.type !== value) this.#keepFor(value, block, path.slice(0, -1));
      if (value === undefined) delete block[name];
      else block[name] = value;
      this.#placed.set(key, { origin, where });
    }
  }

  origin(path: readonly PropertyKey[]): SettingOrigin {
    if (this.at(path) === undefined) return 'default';
    const placed = this.#placedAt(path);
    if (placed !== undefined) return placed.origin;
    return this.#fileHas(path) ? 'file' : 'default';
  }

  /** Returns the place of a key or its value: the flag, the variable, or its position in the file. */
  where(path: readonly PropertyKey[], of: 'key' | 'value' = 'value'): string {
    return this.#placedAt(path)?.where ?? this.#around(path) ?? this.#file.where(path, of);
  }

  /** Returns a scalar of the file as it is written; undefined for text and for values from elsewhere. */
  written(path: readonly PropertyKey[]): string | undefined {
    return this.#placedAt(path) === undefined ? this.#file.written(path) : undefined;
  }

  at(path: readonly PropertyKey[]): unknown {
    return valueAt(this.value, path);
  }

  #placedAt(path: readonly PropertyKey[]) {
    for (let length = path.length; length > 0; length--) {
      const placed = this.#placed.get(path.slice(0, length).join('.'));
      if (placed !== undefined) return placed;
    }
    return undefined;
  }

  /** Returns the source of neighbouring keys, for a missing key of a block that the file does not have. */
  #around(path: readonly PropertyKey[]): string | undefined {
    const parent = path.slice(0, -1);
    if (this.#fileHas(path) || (parent.length > 0 && this.#fileHas(parent))) return undefined;
    const prefix = `${parent.join('.')}.`;
    for (const [key, { where }] of this.#placed) if (key.startsWith(prefix)) return where;
    return undefined;
  }

  #fileHas(path: readonly PropertyKey[]): boolean {
    return valueAt(this.#file.value, path) !== undefined;
  }

  #blockOf(path: readonly string[]): Block | undefined {
    let block = this.value;
    for (const step of path.slice(0, -1)) {
      block[step] ??= {};
      if (!isBlock(block[step])) return undefined;
      block = block[step];
    }
    return block;
  }

  /** Keeps of a block, whose type is another one now, the keys that this type has. */
  #keepFor(type: unknown, block: Block, path: readonly string[]): void {
    const known = propertiesFor(nodeAt(path) ?? {}, { type });
    for (const name of Object.keys(block)) {
      if (Object.hasOwn(known, name)) continue;
      delete block[name];
      this.#placed.delete([...path, name].join('.'));
    }
  }
}

function valueAt(tree: unknown, path: readonly PropertyKey[]): unknown {
  let value = tree;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return;
    value = (value as Record<PropertyKey, unknown>)[step];
  }
  return value;
}

function isBlock(value: unknown): value is Block {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An empty `kafka:`, with all its lines commented out, means the block's defaults. */
function fillEmptyBlocks(block: Block, path: readonly string[]): void {
  const node = nodeAt(path);
  for (const [name, child] of Object.entries(node === undefined ? {} : propertiesOf(node))) {
    if (child.type !== 'object' || !Object.hasOwn(block, name)) continue;
    if (block[name] === null && child.default !== undefined) block[name] = {};
    if (isBlock(block[name])) fillEmptyBlocks(block[name], [...path, name]);
  }
}
